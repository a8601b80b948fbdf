# The HTTP door, beat, Flower and the demo API: no model, no vector engine of our own.
# Build from the repository's root: docker build -f ops/images/light.Dockerfile -t signalbox-light .

FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY ops/setup/installer.lock ops/setup/installer.lock
RUN pip install --no-cache-dir --require-hashes -r ops/setup/installer.lock
COPY pyproject.toml requirements.lock README.md LICENSE ./
RUN uv venv /venv \
    && uv pip install --no-cache --python /venv/bin/python --constraint requirements.lock -r pyproject.toml
COPY schemas schemas
COPY workers workers
COPY tasks tasks
COPY api_shim api_shim
COPY ops ops
RUN uv pip install --no-cache --python /venv/bin/python --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/signalbox signalbox
COPY --from=build /venv /venv
COPY ops/flower/flowerconfig.py /etc/signalbox/flowerconfig.py
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /var/lib/signalbox
USER 10001
CMD ["uvicorn", "--factory", "api_shim.app:create_app", "--host", "0.0.0.0", "--port", "8100", "--no-access-log"]
