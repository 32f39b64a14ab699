/** A short file with two mistakes, so that a person sees what a diagnostic is. */
export const exampleText = `{
  "name": "ACME",
  "favicon": "/favicon.svg",
  "colors": {
    "primary": "0D9373"
  },
  "navigation": [
    {
      "group": "Get started",
      "pages": ["introduction", "quickstart"]
    }
  ],
  "topbarLink": []
}
`;
