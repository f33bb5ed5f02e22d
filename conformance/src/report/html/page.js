for (const button of document.querySelectorAll(".legend button")) {
  button.addEventListener("click", () => {
    const wanted = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.verdict;
    for (const other of document.querySelectorAll(".legend button")) {
      other.setAttribute("aria-pressed", String(other.dataset.verdict === wanted));
    }
    for (const row of document.querySelectorAll("#results details.row")) {
      row.hidden = wanted !== "" && row.dataset.verdict !== wanted;
    }
    for (const group of document.querySelectorAll("#results section")) {
      group.hidden = !group.querySelector("details.row:not([hidden])");
    }
  });
}
