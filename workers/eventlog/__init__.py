"""The turn's stream of events: read what happened, learn where to listen for what happens next."""
