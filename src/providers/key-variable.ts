/** The environment variable for the keys of an upstream of that name, with commas between them. */
export const keyVariableOf = (name: string): string =>
  `GAZEWAY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_API_KEYS`
