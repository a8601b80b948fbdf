/* Draws /openapi.json as a page: every operation, its parameters, body and answers. */

const api = await (await fetch("/openapi.json")).json();
const page = document.getElementById("operations");

function make(tag, content = [], options = {}) {
  const node = Object.assign(document.createElement(tag), options);
  node.append(...[content].flat());
  return node;
}

const schemaOf = (part) => {
  const schema = Object.values(part?.content ?? {})[0]?.schema;
  return schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema;
};

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.type === "array") return `[${typeOf(schema.items ?? schema.prefixItems?.[0] ?? { type: "any" })}]`;
  return schema.type ?? (schema.const === undefined ? "any" : JSON.stringify(schema.const));
}

function bounds(schema) {
  const named = { minLength: "at least", maxLength: "at most", maxItems: "items at most", minimum: "from", maximum: "to" };
  const said = Object.entries(named).filter(([key]) => key in schema).map(([key, name]) => `${name} ${schema[key]}`);
  if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
  return said.join(", ");
}

function fieldsOf(schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, one]) => make("tr", [
    make("td", make("code", name)), make("td", typeOf(one)),
    make("td", [required.has(name) ? "required" : "", bounds(one), one.description ?? ""].filter(Boolean).join("; ")),
  ]));
  return make("table", rows);
}

function draw(path, method, operation) {
  const parts = [make("summary", [
    make("b", method, { className: "method" }), make("code", path), make("span", operation.summary),
  ])];
  if (operation.parameters.length) {
    parts.push(make("h3", "Parameters"), make("table", operation.parameters.map((one) => make("tr", [
      make("td", make("code", one.name)), make("td", one.in), make("td", one.description ?? "required"),
    ]))));
  }
  const body = schemaOf(operation.requestBody);
  if (body) parts.push(make("h3", "Body"), fieldsOf(body));
  for (const [code, answer] of Object.entries(operation.responses)) {
    parts.push(make("h3", `${code} · ${answer.description}`));
    const schema = code < "300" && schemaOf(answer);
    if (schema) parts.push(fieldsOf(schema));
  }
  return make("details", parts);
}

const byTag = new Map();
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const [tag] = operation.tags;
    byTag.set(tag, [...(byTag.get(tag) ?? []), draw(path, method, operation)]);
  }
}
page.replaceChildren(...[...byTag].flatMap(([tag, drawn]) => [make("h2", tag), ...drawn]));
