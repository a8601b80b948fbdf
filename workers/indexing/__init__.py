"""Endpoint → vectors; catalogues. Loads no language model.

indexer    Indexer: one endpoint, from the registry to searchable
enrich     rules: what more can be said of an endpoint from its name, parameters, titles and examples
catalogue  reads a YAML or JSON catalogue; one bad entry never stops the rest
openapi    the operations of an OpenAPI 3 or Swagger 2 document
refresher  Refresher: scheduled sources, from what is due to what changed; source_list and source_reading are its eyes
"""
