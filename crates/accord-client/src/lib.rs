//! Drive any Agent Client Protocol agent.
