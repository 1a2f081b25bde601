/** The page's own parts, as text: the builds (Vite's, all of them) put them into the program. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: that is how Vite gives a text
  export default text;
}
