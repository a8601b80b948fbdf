"""Queue *calling*: from collected parameters to outcomes. Read in this order.

plan           collected values → ApiCalls; one ApiCall → the request it means (pure)
caller         the order of guards: stored outcome → breaker → egress → client → outcome
outcomes       first outcome of a call wins; who is sending; what had left when a process died
breaker        when an endpoint is left alone for a while (pure), breaker_store shares it among all workers
egress         which hosts and addresses we may talk to
client         the only file that knows httpx
bodies         bytes of an answer → JSON, text, or nothing (pure)
"""
