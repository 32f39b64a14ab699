/** Whether it is an HTTP origin as browsers write it in the `Origin` header, such as `https://app.example.com`. */
export const isOrigin = (text: string): boolean =>
  /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
