//! The asynchronous transport of the Agent Client Protocol: one driver loop, handles, child processes, stdio.
