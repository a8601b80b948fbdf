"""Endpoint → vectors; catalogues, documents and scheduled sources.

indexer    Indexer: one endpoint, from the registry to searchable
enrich     rules: what more can be said of an endpoint from its name, parameters, titles and examples
enricher   Enricher: the same by a language model, where one is configured; `enrich` when it fails
catalogue  reads a YAML or JSON catalogue; one bad entry never stops the rest
openapi    the operations of an OpenAPI 3 or Swagger 2 document
refresher  Refresher: scheduled sources, from what is due to what changed; source_list and source_reading are its eyes
"""
