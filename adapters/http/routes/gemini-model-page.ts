import * as z from 'zod'
import type { Model } from '../../../src/inference/upstreams/model-list.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { readQuery } from '../../web/read-query.ts'

/** Google's paging. The token is the id of the last model of the page before. */
const Page = z.object({
  pageSize: z.int().min(1).max(1000).default(50),
  pageToken: z.string().optional(),
})

/** A page of Google's list. An id that is not listed begins nowhere: the page is empty then. */
export function geminiPage(all: readonly Model[], { req }: FrameContext, shown: (model: Model) => object): object {
  const { pageSize, pageToken } = parseInput(Page, readQuery(req, ['pageSize']))
  const begin = pageToken === undefined ? 0 : all.findIndex(({ id }) => id === pageToken) + 1 || all.length
  const page = all.slice(begin, begin + pageSize)
  const nextPageToken = begin + pageSize < all.length ? page.at(-1)?.id : undefined
  return { models: page.map(shown), ...(nextPageToken !== undefined && { nextPageToken }) }
}
