// A rate limit binding: so many calls per key and period, counted in this process.
export default function (env) {
  const periods = new Map();
  return {
    async limit({ key } = {}) {
      if (typeof key !== "string") throw new TypeError("limit() needs { key } as a string");
      const now = Math.floor(Date.now() / 1000 / env.period);
      const { period, count } = periods.get(key) ?? { period: now, count: 0 };
      const used = period === now ? count : 0;
      if (used >= env.limit) return { success: false };
      periods.set(key, { period: now, count: used + 1 });
      return { success: true };
    },
  };
}
