/** Capabilities of the platform, by the identifiers that agents look for. */
export const CAPABILITIES = [
  'gaze_data_storage',
  'gaze_data_retrieval',
  'gaze_pattern_analysis',
  'context_awareness',
  'ai_chat',
  'usage_analytics',
  'tempo_billing',
  'task_escrow',
] as const
export type Capability = (typeof CAPABILITIES)[number]

/** Capabilities that need deposits or credit. */
export const PAID_CAPABILITIES: ReadonlySet<Capability> = new Set(['tempo_billing', 'task_escrow'])
