"""What the queues may be asked for. The only house that knows Celery.

app            the Celery app; light: publishers import it too
queues, names  where each task goes, and what it is called on the wire
publish        how other processes put work on a queue
dispatch       how a command becomes a message, or a chord
pool           one event loop per worker process, under Celery's own supervision
base           StageTask: log context, metrics, time limit, retries, dead letters
classify … sweep   one thin file per queue
"""
