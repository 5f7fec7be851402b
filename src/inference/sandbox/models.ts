/**
 * Model ids that the sandbox lists: the gateway's own, and those of xAI that they resolve to. Requests may name any
 * model.
 */
const IDS = ['llm-', 'grok-'].flatMap((family) =>
  ['4.20-multi-agent-beta-0309', '4.20-0309-reasoning', '3-fast', '4-1-fast-reasoning'].map((id) => family + id),
)

/** 2026-01-01T00:00:00Z in Unix seconds. */
const CREATED = 1_767_225_600

/** Models of the sandbox, as `GET /v1/models` lists them. */
export const MODELS = IDS.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'sandbox' }))
