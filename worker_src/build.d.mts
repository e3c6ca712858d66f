export const HERE: string;
export function bundle(entry: string, overrides?: object): Promise<string>;
