//! The agent of this example is a program in another language, `agent/agent.py`. This package only has its suite.
