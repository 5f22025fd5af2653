"""A loopback Slack: Web API, Events, Socket Mode and interactivity, in a process of its own."""
