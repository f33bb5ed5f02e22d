//! One end of an Agent Client Protocol connection, as a pure state machine: no I/O, no clock, no lock.
