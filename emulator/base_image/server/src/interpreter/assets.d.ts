declare module "*.py" {
  const source: string;
  export default source;
}

declare module "executor:javascript" {
  const source: string;
  export default source;
}
