/**
 * Environment variable with the API keys of an upstream, comma-separated.
 *
 * @example keyVariableOf('my-vllm') // 'GAZEWAY_UPSTREAM_MY_VLLM_API_KEYS'
 */
export const keyVariableOf = (name: string): string =>
  `GAZEWAY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_API_KEYS`

/**
 * Environment variable with the key that reads the bill of an upstream's account.
 *
 * @param name null for the upstream `default`
 * @example adminKeyVariableOf('my-openai') // 'GAZEWAY_UPSTREAM_MY_OPENAI_ADMIN_KEY'
 */
export const adminKeyVariableOf = (name: string | null): string =>
  name === null ? 'GAZEWAY_UPSTREAM_ADMIN_KEY' : `GAZEWAY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_ADMIN_KEY`
