const buttons = [...document.querySelectorAll(".legend button")];
const find = document.querySelector(".legend input");
const groups = [...document.querySelectorAll("#results details.group")];
const first = groups.map((group) => group.open);

// Shows the rows of the chosen verdict that hold the wanted text; while anything is chosen, all that is left is in sight.
function filter() {
  const verdict = buttons.find((button) => button.getAttribute("aria-pressed") === "true")?.dataset.verdict;
  const text = (find?.value ?? "").trim().toLowerCase();
  groups.forEach((group, place) => {
    for (const row of group.querySelectorAll("details.row")) {
      const fits = !verdict || row.dataset.verdict === verdict;
      row.hidden = !(fits && row.textContent.toLowerCase().includes(text));
    }
    group.hidden = !group.querySelector("details.row:not([hidden])");
    group.open = verdict || text ? true : first[place];
  });
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button && pressed)));
    filter();
  });
}
find?.addEventListener("input", filter);

// A link to a requirement opens it.
function open() {
  const row = location.hash && document.getElementById(location.hash.slice(1));
  for (let part = row; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  row?.scrollIntoView();
}
addEventListener("hashchange", open);
open();
