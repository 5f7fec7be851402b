/** Writes a number of things: `1 hunk`, `2 hunks`. @param noun whose plural has an `s` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
