"""Queue *calling*: from collected parameters to outcomes. Read in this order.

plan           collected values → ApiCalls; one ApiCall → the request it means (pure; styles, headers, prepared)
caller         who makes a call, and what is kept of it: stored outcome → lease → sending → outcome
sending        the order of guards: place → sign → bulkhead → breaker → client; again where that is harmless
outcomes       first outcome of a call wins; who is sending; what had left when a process died
breaker        when an endpoint is left alone for a while (pure); breaker_store shares it among all workers, and
               breaker_local decides while the store is away
bulkhead       how many calls may be under way to one host
signing        adds credentials; vault resolves references to secrets, tokens keeps OAuth2 access tokens
egress         which hosts and addresses we may talk to
client         sends once; with transport the only file that knows httpx
bodies         bytes of an answer → JSON, text, or nothing (pure; redacting, collecting)
complaints     what a 4xx complains about: which parameter, and why (pure)
"""
