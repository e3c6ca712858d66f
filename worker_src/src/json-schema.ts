/**
 * The schemas of this Worker as JSON Schema: just the kinds they use. The library that can do all kinds weighs more than
 * every route together, so it only judges this one in the tests.
 */
import type * as v from "valibot";

type Json = Record<string, unknown>;
/** What the library's schema and action objects hold, as far as it is read here. */
interface Node {
  type: string;
  kind: string;
  entries?: Record<string, Node>;
  item?: Node;
  key?: Node;
  value?: Node;
  options?: Node[];
  wrapped?: Node;
  default?: unknown;
  literal?: unknown;
  pipe?: Node[];
  requirement?: unknown;
}

const LENGTHS: Record<string, [string, string]> = {
  min_length: ["minLength", "minItems"],
  max_length: ["maxLength", "maxItems"],
};

function object(entries: Record<string, Node>, closed: boolean): Json {
  const required = Object.keys(entries).filter((name) => entries[name]?.type !== "optional");
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, convert(entry)])),
    required,
    ...(closed && { additionalProperties: false }),
  };
}

function restrict(json: Json, { type, requirement }: Node): Json {
  if (LENGTHS[type]) return { ...json, [LENGTHS[type][json["type"] === "array" ? 1 : 0]]: requirement };
  if (type === "min_value") return { ...json, minimum: requirement };
  if (type === "max_value") return { ...json, maximum: requirement };
  if (type === "not_value") return { ...json, not: { const: requirement } };
  if (type === "integer") return { ...json, type: "integer" };
  return type === "regex" ? { ...json, pattern: (requirement as RegExp).source } : json;
}

function base(node: Node): Json {
  switch (node.type) {
    case "string":
    case "number":
    case "boolean":
      return { type: node.type };
    case "unknown":
      return {};
    case "literal":
      return { const: node.literal };
    case "picklist":
      return { type: "string", enum: node.options };
    case "array":
      return { type: "array", items: convert(node.item!) };
    case "record":
      return { type: "object", propertyNames: convert(node.key!), additionalProperties: convert(node.value!) };
    case "variant":
      return { oneOf: node.options!.map(convert) };
    case "union":
      return { anyOf: node.options!.map(convert) };
    case "optional":
      return { ...convert(node.wrapped!), ...(node.default !== undefined && { default: node.default }) };
    case "object":
      return object(node.entries!, false);
    case "strict_object":
      return object(node.entries!, true);
    default:
      throw new Error(`no JSON Schema for ${node.type}`);
  }
}

/**
 * What a caller may send: transformations and checks that JSON Schema cannot say end or are left out of the account.
 */
function convert(node: Node): Json {
  if (!node.pipe) return base(node);
  const [first, ...rest] = node.pipe;
  return rest.filter(({ kind }) => kind === "validation").reduce(restrict, convert(first!));
}

export const jsonSchema = (schema: v.GenericSchema): Json => convert(schema as unknown as Node);
