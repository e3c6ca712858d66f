/**
 * Code as a notebook runs it: one async function, so that `await` and `import` work at the top; its declarations become
 * variables of the whole, so that later runs see them and may declare them again; its last expression is the result.
 */
import { type AnyNode, type ImportDeclaration, parse, type Pattern, type Statement } from "acorn";

/** The names a pattern declares. */
function names(pattern: Pattern | AnyNode | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((one) => names(one.type === "RestElement" ? one.argument : one.value));
    case "ArrayPattern":
      return pattern.elements.flatMap((one) => names(one));
    case "AssignmentPattern":
      return names(pattern.left);
    case "RestElement":
      return names(pattern.argument);
    default:
      return [];
  }
}

/** `import a, { b as c } from "d"` as an expression that fills the same names. */
function imported(node: ImportDeclaration): { declared: string[]; text: string } {
  const declared = node.specifiers.map((one) => one.local.name);
  const source = `await import(${JSON.stringify(node.source.value)})`;
  const parts = node.specifiers.map((one) => {
    if (one.type === "ImportNamespaceSpecifier") return `${one.local.name} = __module`;
    const key = one.type === "ImportDefaultSpecifier" ? "default" : one.imported.type === "Identifier" ? one.imported.name : String(one.imported.value);
    return `${one.local.name} = __module[${JSON.stringify(key)}]`;
  });
  return { declared, text: parts.length > 0 ? `{ const __module = ${source}; ${parts.join("; ")}; }` : `${source};` };
}

export function transform(code: string): string {
  const tree = parse(code, {
    ecmaVersion: "latest",
    sourceType: "script",
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowHashBang: true,
  });
  const slice = (node: { start: number; end: number }) => code.slice(node.start, node.end);
  const declared = new Set<string>();
  const hoisted: string[] = [];
  const rewrite = (node: Statement | AnyNode, isLast: boolean): string => {
    switch (node.type) {
      case "VariableDeclaration": {
        node.declarations.flatMap((one) => names(one.id)).forEach((name) => declared.add(name));
        const parts = node.declarations.map((one) => (one.init ? `${slice(one.id)} = ${slice(one.init)}` : `${slice(one.id)} = undefined`));
        return `;(${parts.join(", ")});`;
      }
      case "FunctionDeclaration":
      case "ClassDeclaration": {
        const name = node.id?.name as string;
        declared.add(name);
        if (node.type === "ClassDeclaration") return `;${name} = ${slice(node)};`;
        hoisted.push(`globalThis.${name} = ${name};`);
        return slice(node);
      }
      case "ImportDeclaration": {
        const { declared: local, text } = imported(node);
        local.forEach((name) => declared.add(name));
        return text;
      }
      case "ExpressionStatement":
        return isLast ? `;return (${slice(node.expression)});` : `;${slice(node)};`;
      default:
        return slice(node);
    }
  };
  const body = tree.body.map((node, i) => rewrite(node, i === tree.body.length - 1));
  const variables = declared.size > 0 ? `var ${[...declared].join(", ")};` : "";
  return `${variables}(async () => {${hoisted.join("")}${body.join("\n")}\n})()`;
}
