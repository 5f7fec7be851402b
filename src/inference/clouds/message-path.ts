import type { CloudRequest } from './cloud.ts'

/** Tells whether a request asks for a Message. */
export const isMessages = ({ method, path }: CloudRequest): boolean =>
  method === 'POST' && /^\/messages(?:\?|$)/.test(path)
