# The workers: everything of the light image, and the embedding model.
# `--build-arg EXTRAS="--extra local --extra llm"` adds the language model's client; `--extra tracing`, OpenTelemetry's.
# Build from the repository's root: docker build -f ops/images/worker.Dockerfile -t signalbox-worker .

FROM python:3.11-slim-bookworm AS build
ARG EXTRAS="--extra local"
WORKDIR /src
COPY ops/setup/installer.lock ops/setup/installer.lock
RUN pip install --no-cache-dir --require-hashes -r ops/setup/installer.lock
COPY pyproject.toml requirements.lock README.md LICENSE ./
RUN uv venv /venv \
    && uv pip install --no-cache --python /venv/bin/python --constraint requirements.lock -r pyproject.toml ${EXTRAS}
COPY schemas schemas
COPY workers workers
COPY tasks tasks
COPY api_shim api_shim
COPY ops ops
RUN uv pip install --no-cache --python /venv/bin/python --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/signalbox signalbox
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
WORKDIR /var/lib/signalbox
USER 10001
CMD ["celery", "--app", "tasks.app", "worker", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
