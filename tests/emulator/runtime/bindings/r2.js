// Drives an R2 binding through everything it offers; each scenario answers with what it saw.
const BIG = 5 * 1024 * 1024;

const text = async (found) => (found && "body" in found ? await found.text() : null);
const failure = async (work) => {
  try {
    return await work();
  } catch (error) {
    return error.message;
  }
};

const scenarios = {
  async conditions({ B }) {
    const first = await B.put("key", "one");
    const kept = await B.put("key", "two", { onlyIf: { etagMatches: "other" } });
    const same = await B.get("key", { onlyIf: { etagDoesNotMatch: first.etag } });
    const swapped = await B.put("key", "two", { onlyIf: { etagMatches: first.etag } });
    const absent = await B.put("new", "x", { onlyIf: new Headers({ "if-none-match": "*" }) });
    const present = await B.put("new", "y", { onlyIf: new Headers({ "if-none-match": "*" }) });
    const late = await B.get("key", { onlyIf: { uploadedAfter: new Date(Date.now() + 60_000) } });
    const early = await B.get("key", { onlyIf: { uploadedBefore: new Date(Date.now() + 60_000) } });
    return [kept, same.etag === first.etag, await text(same), swapped.size, absent.size, present, await text(late), await text(early)];
  },

  async lists({ B }) {
    for (const key of ["a/1", "a/2", "b", "c/1", "d"]) {
      await B.put(key, key, { customMetadata: { key }, httpMetadata: { contentType: "text/x" } });
    }
    const folders = await B.list({ delimiter: "/", include: ["customMetadata"] });
    const pages = [];
    let cursor;
    do {
      const page = await B.list({ limit: 2, delimiter: "/", cursor });
      pages.push([page.objects.map(({ key }) => key), page.delimitedPrefixes]);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor);
    const inside = await B.list({ prefix: "a/", startAfter: "a/1" });
    await B.delete(["a/1", "a/2", "none"]);
    const left = await B.list();
    const one = folders.objects[0];
    return [pages, inside.objects.map(({ key }) => key), left.objects.map(({ key }) => key), one.customMetadata, one.httpMetadata];
  },

  async parts({ B }) {
    const upload = await B.createMultipartUpload("big", { customMetadata: { a: "1" } });
    const one = await upload.uploadPart(1, new Uint8Array(BIG).fill(1));
    const two = await upload.uploadPart(2, "the end");
    const wrong = await failure(() => upload.complete([one, { ...two, etag: "other" }]));
    const done = await upload.complete([two, one]);
    const tail = await B.get("big", { range: { offset: BIG - 1 } });
    const again = await failure(() => B.resumeMultipartUpload("big", upload.uploadId).uploadPart(3, "late"));
    const small = await B.createMultipartUpload("small");
    const pieces = [await small.uploadPart(1, "tiny"), await small.uploadPart(2, "tiny")];
    const refused = await failure(() => small.complete(pieces));
    await small.abort();
    return [wrong, done.size, done.customMetadata, done.etag.slice(-2), (await tail.text()).slice(1), again, refused, await B.head("small")];
  },

  async sums({ B }) {
    const sha256 = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("sum"));
    const good = await B.put("sum", "sum", { sha256 });
    const bad = await failure(() => B.put("sum", "other", { sha256 }));
    const { checksums } = await B.head("sum");
    const hex = [...new Uint8Array(checksums.sha256)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return [good.size, bad, hex.slice(0, 8), checksums.md5.byteLength, await failure(() => B.get("x".repeat(1025)))];
  },
};

export default {
  async fetch(request, env) {
    return Response.json(await scenarios[new URL(request.url).pathname.slice(1)](env));
  },
};
