/**
 * Environment variable with the API keys of an upstream, comma-separated.
 *
 * @example keyVariableOf('my-vllm') // 'GAZEWAY_UPSTREAM_MY_VLLM_API_KEYS'
 */
export const keyVariableOf = (name: string): string =>
  `GAZEWAY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_API_KEYS`
