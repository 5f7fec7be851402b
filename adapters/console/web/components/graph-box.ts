/** Size of a graph's box, in pixels. */
export const BOX = { width: 236, height: 76 } as const
