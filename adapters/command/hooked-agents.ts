/** Agents that name their session to hooks, as `gazeway connect` names them. */
export const HOOKED_AGENTS = ['claude-code', 'codex'] as const
export type HookedAgent = (typeof HOOKED_AGENTS)[number]
