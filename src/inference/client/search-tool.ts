import * as z from 'zod'

/** The provider's built-in search tools: the web, and the social platform. */
export const SearchTool = z.enum(['web_search', 'x_search'])
export type SearchTool = z.infer<typeof SearchTool>
