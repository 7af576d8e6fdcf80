// SPDX-License-Identifier: MIT
// What build.mjs makes of files that are not TypeScript.
declare module '*.csv' {
  const text: string;
  export default text;
}
