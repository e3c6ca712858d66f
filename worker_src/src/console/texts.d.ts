/** The files of the page are bundled as texts. */
declare module "*.html" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*/page.js" {
  const text: string;
  export default text;
}
declare module "*/screen.js" {
  const text: string;
  export default text;
}
