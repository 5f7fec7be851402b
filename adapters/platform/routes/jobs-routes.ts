import * as z from 'zod'
import { defineRoute, type Route } from '../define-route.ts'

/**
 * Routes that frontends of agent gateways expect and this platform answers with empty lists: it has no scheduled jobs
 * and starts no MCP servers.
 */
export const jobRoutes = (): Route[] => [
  defineRoute('GET /api/jobs', {
    operation: 'listJobs',
    summary: 'List scheduled jobs; always empty',
    access: 'platform',
    reply: z.object({ jobs: z.array(z.never()) }),
    run: async () => ({ jobs: [] }),
  }),
  defineRoute('GET /api/mcp', {
    operation: 'listMcpServers',
    summary: 'List MCP servers of the agent; always empty',
    access: 'platform',
    reply: z.object({ servers: z.array(z.never()) }),
    run: async () => ({ servers: [] }),
  }),
]
