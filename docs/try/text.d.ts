// Files that the bundle takes as text.
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.asm" {
  const text: string;
  export default text;
}
declare module "*.toml" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
