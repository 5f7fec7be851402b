import * as z from 'zod'

/** Shape of every list: one page of `item`. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    total: z.int().describe('Total number of items on all pages.'),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
