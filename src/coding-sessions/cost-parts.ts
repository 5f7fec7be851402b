/** Parts by which the cost of sessions is told. */
export const COST_PARTS = ['session', 'day', 'model', 'commit'] as const
export type CostPart = (typeof COST_PARTS)[number]
