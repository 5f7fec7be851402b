/** Groupings of the cost of sessions. */
export const COST_PARTS = ['session', 'day', 'model', 'commit'] as const
export type CostPart = (typeof COST_PARTS)[number]
