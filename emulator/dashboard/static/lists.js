// The lists of the page: for each its columns, and for each column which value of a row it shows and how.

import { badge, breakable, bytes, code, codes, count, details, element, several, shortened, text, time, yes } from "./cells.js";

const ROLLOUT_TONES = { completed: "good", progressing: "busy", pending: "busy", reverting: "bad", reverted: "bad" };
const toned = (tones) => badge((value) => tones[value] ?? "quiet");

const versions = ([traffic, latest]) => {
  const shares = traffic.map(({ version, percentage }) => (percentage === 100 ? `v${version}` : `v${version} ${percentage} %`));
  const waits = latest && !traffic.some(({ version }) => version === latest);
  return several(waits ? [...shares, `v${latest} waits`] : shares);
};

const bindings = (all) => {
  if (!all.length) return text(null);
  const rows = all.map((each) =>
    element(
      "li",
      {},
      element("code", {}, each.name),
      element("span", { class: "quiet" }, ` ${each.type.replaceAll("_", " ")}`),
      each.target ? ` ${each.target}` : "",
    ),
  );
  return details([all.length === 1 ? "1 binding" : `${all.length} bindings`], element("ul", {}, ...rows));
};

const instances = ([now, most]) => {
  const parts = [most === null ? `${now.running} running` : `${now.running} of ${most} running`];
  if (now.provisioning) parts.push(`${now.provisioning} starting`);
  if (now.failed) parts.push(`${now.failed} failed`);
  return parts.join(", ");
};

const output = (lines) => {
  if (!lines.length) return text(null);
  return details([element("code", {}, lines.at(-1))], element("pre", {}, lines.join("\n")));
};

const rollout = (value) => {
  if (!value) return text(null);
  const words = `v${value.from} to v${value.to}, step ${value.step} of ${value.steps}, ${value.percentage} %`;
  const bar = element("progress", { max: 100, value: value.percentage, "aria-label": `Rollout ${words}` });
  const status = toned(ROLLOUT_TONES)(value.status);
  const errors = value.errors.map((each) => badge(() => "bad")(each));
  return element("div", { class: "rollout" }, element("div", { class: "pieces" }, status, ...errors), bar, words);
};

// Ids are long and say little; the rest of a path is what people look for.
const brief = (path) => path.replace("/client/v4", "").replace(/[0-9a-f-]{32,}/g, (id) => `${id.slice(0, 4)}…`);

const request = ([method, path, operation]) =>
  details(
    [element("strong", {}, method), " ", breakable(brief(path))],
    element("code", { class: "whole" }, path),
    element("span", { class: "quiet" }, operation || "no operation"),
  );

const status = ([value, fault]) => {
  const tone = value === 0 || value >= 500 ? "bad" : value >= 400 ? "warn" : "good";
  const shown = [badge(() => tone)(value || "dropped")];
  if (fault) shown.push(badge(() => "busy")(`fault ${fault}`));
  return element("span", { class: "pieces" }, ...shown);
};

// A column: its heading, the value it shows, how. Cells are drawn anew only when the value changed.
export const LISTS = [
  {
    id: "workers",
    title: "Workers",
    about: "Scripts, the version that serves, and what it is bound to. Values are never shown.",
    none: "No Worker yet.",
    wide: true,
    columns: [
      ["Name", (row) => row.name, text],
      ["Serves", (row) => [row.traffic, row.latest], versions],
      ["Bindings", (row) => row.bindings, bindings],
      ["Compatibility", (row) => row.compatibility_date, text],
      ["Migration", (row) => row.migration_tag, code],
      ["Deployed", (row) => row.deployed, time],
    ],
  },
  {
    id: "classes",
    title: "Durable Object classes",
    about: "Each class has one namespace; a container class belongs to one application.",
    none: "No class yet: a Worker's migrations make them.",
    wide: true,
    columns: [
      ["Class", (row) => row.class, text],
      ["Worker", (row) => row.worker, text],
      ["Namespace", (row) => row.namespace, shortened(8)],
      ["Storage", (row) => row.storage, text],
      ["Container", (row) => row.container, yes],
      ["Application", (row) => row.application, text],
    ],
  },
  {
    id: "applications",
    title: "Container applications",
    about: "What runs, and how far the latest rollout has come.",
    none: "No application yet.",
    wide: true,
    columns: [
      ["Name", (row) => row.name, text],
      ["Class", (row) => row.class, breakable],
      ["Version", (row) => row.version, (value) => (value ? `v${value}` : text(null))],
      ["Image", (row) => row.image.replace(/^.*\//, ""), shortened(24)],
      ["Instances", (row) => [row.instances, row.max_instances], instances],
      ["Rollout", (row) => row.rollout, rollout],
      ["State", (row) => row.state, badge((value) => (value === "active" ? "good" : "warn"))],
    ],
  },
  {
    id: "sandboxes",
    title: "Sandboxes",
    about: "Containers that run on this machine now, with their newest output.",
    none: "No sandbox runs: the first request to one starts it.",
    wide: true,
    columns: [
      ["Object", (row) => row.object, shortened(12)],
      ["Application", (row) => row.application, text],
      ["Version", (row) => row.version, (value) => (value ? `v${value}` : text(null))],
      ["Image", (row) => row.digest, shortened(19)],
      ["State", (row) => row.state, badge((value) => (value === "running" ? "good" : "warn"))],
      ["Started", (row) => row.started, time],
      ["Memory", (row) => row.memory, (value) => (value === null ? text(null) : bytes(value))],
      ["Output", (row) => row.output, output],
    ],
  },
  {
    id: "images",
    title: "Images",
    about: "Manifests in the account's registry, with the size of all they name.",
    none: "No image yet.",
    wide: true,
    columns: [
      ["Repository", (row) => row.repository, text],
      ["Tags", (row) => row.tags, codes],
      ["Digest", (row) => row.digest, shortened(19)],
      ["Kind", (row) => row.kind, text],
      ["Size", (row) => row.size, bytes],
    ],
  },
  {
    id: "buckets",
    title: "R2 buckets",
    about: "Buckets and how many objects they hold.",
    none: "No bucket yet.",
    columns: [
      ["Name", (row) => row.name, text],
      ["Objects", (row) => row.objects, count],
      ["Location", (row) => [row.location, row.jurisdiction], ([place, law]) => (law === "default" ? place : `${place}, ${law}`)],
      ["Domains", (row) => row.domains, several],
    ],
  },
  {
    id: "kv",
    title: "KV namespaces",
    about: "Namespaces and how many keys they hold, expired ones included.",
    none: "No namespace yet.",
    columns: [
      ["Title", (row) => row.title, text],
      ["Id", (row) => row.id, shortened(8)],
      ["Keys", (row) => row.keys, count],
    ],
  },
  {
    id: "queues",
    title: "Queues",
    about: "Queues with who sends and who receives.",
    none: "No queue yet.",
    columns: [
      ["Name", (row) => row.name, text],
      ["Producers", (row) => row.producers, several],
      ["Consumers", (row) => row.consumers, several],
    ],
  },
  {
    id: "routes",
    title: "Routes",
    about: "Which Worker answers which addresses of a zone.",
    none: "No route yet.",
    columns: [
      ["Pattern", (row) => row.pattern, code],
      ["Worker", (row) => row.worker, text],
    ],
  },
  {
    id: "domains",
    title: "Custom domains",
    about: "Host names that belong to a Worker as a whole.",
    none: "No custom domain yet.",
    columns: [
      ["Host name", (row) => row.hostname, text],
      ["Worker", (row) => row.worker, text],
    ],
  },
  {
    id: "certificates",
    title: "Certificates",
    about: "Certificate packs of the zones.",
    none: "No certificate pack yet.",
    columns: [
      ["Hosts", (row) => row.hosts, several],
      ["Status", (row) => row.status, (value) => badge(() => (value === "active" ? "good" : "busy"))(value.replaceAll("_", " "))],
      ["Ordered", (row) => row.ordered, time],
    ],
  },
  {
    id: "records",
    title: "DNS records",
    about: "Records of all zones.",
    none: "No record yet.",
    wide: true,
    columns: [
      ["Name", (row) => row.name, text],
      ["Type", (row) => row.type, text],
      ["Content", (row) => row.content, code],
      ["Proxied", (row) => row.proxied, yes],
      ["TTL", (row) => row.ttl, (value) => (value === 1 ? "automatic" : `${value} s`)],
      ["Zone", (row) => row.zone, text],
    ],
  },
  {
    id: "access",
    title: "Access applications",
    about: "What Access stands in front of.",
    none: "No application yet.",
    wide: true,
    columns: [
      ["Name", (row) => row.name, text],
      ["Domain", (row) => row.domain, text],
      ["Type", (row) => row.type, (value) => value.replaceAll("_", " ")],
      ["Policies", (row) => row.policies, count],
    ],
  },
];

export const JOURNAL = {
  id: "journal",
  title: "Requests",
  about: "The newest first, without queries.",
  none: "No request yet.",
  columns: [
    ["Request", (row) => [row.method, row.path, row.operation], request],
    ["Status", (row) => [row.status, row.fault], status],
    ["Time", (row) => row.ms, (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`],
    ["When", (row) => row.time, time],
  ],
};
