"""Every message that may cross a wall: frozen Pydantic models, no I/O, no policy.

ids            how turn, chat and call ids are derived
orchestrate    the chat frontends' requests, responses and SSE frames
turns          TurnRequest and Turn, the record of one message on its way
routing        Layer, Candidate, Decision: what classification found
conversations  Conversation and Collecting: what a chat remembers
endpoints      Endpoint and ParamSpec: an API as the catalogue describes it
calls          ApiCall and CallOutcome
commands       Stage and Command: what a turn asks the queues next
events         TurnEvent: what a client is told
registration   how an endpoint is registered at the door
registry       an endpoint and the state of its index
failures       FailureCode, Failure, ErrorBody
"""
