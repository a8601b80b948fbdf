"""The one text of an endpoint that the seed project embeds. Pure."""

from __future__ import annotations

from schemas.endpoints import Endpoint, ParamSpec


def _param_line(param: ParamSpec) -> str:
    need = "required" if param.required else "optional"
    head = f"{param.name} ({param.type}, {need})"
    return f"{head}: {param.description}" if param.description else head


def params_summary(endpoint: Endpoint) -> str:
    """Describe the parameters in one line: `name (type, required): description; …`."""
    return "; ".join(_param_line(param) for param in endpoint.params)


def embed_text(endpoint: Endpoint) -> str:
    """Assemble `{name}. {description}. {enriched_context}. Parameters: {params}`; absent parts are left out."""
    parts = [endpoint.name, endpoint.description, endpoint.enriched_context]
    if endpoint.params:
        parts.append(f"Parameters: {params_summary(endpoint)}")
    return ". ".join(part for part in parts if part)
