export const openapi = [];
