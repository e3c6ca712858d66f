"""Ask a deployed Worker whether it works: what `sandbox-stack smoke URL` does.

`steps` and `sandbox_steps` say what is asked and judge the answers, `runner` puts them in order; both are pure.
`wire` sends requests, `report` and `curl` write for people, `command` is the command line.
"""
