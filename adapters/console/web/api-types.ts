/** Types of the platform API, generated from /openapi.json: run npm run api. */
export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gateway-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getGatewayStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["runDoctor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeys"];
        put?: never;
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/burn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBurn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch: operations["updateKey"];
        trace?: never;
    };
    "/api/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["releaseKeySpending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listGroups"];
        put?: never;
        post: operations["createGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getGroup"];
        put?: never;
        post?: never;
        delete: operations["deleteGroup"];
        options?: never;
        head?: never;
        patch: operations["updateGroup"];
        trace?: never;
    };
    "/api/groups/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["releaseGroupSpending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}/forgive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forgiveKeyDebt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{id}/forgive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forgiveGroupDebt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/callers/{id}/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["forgetCaller"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConnections"];
        put?: never;
        post: operations["createConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["closeConnection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/metered/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["callMetered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/metered/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReceipts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/metered/pricing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPricing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/metered/deposit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["deposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/balances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBalances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listLedgerEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["withdraw"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/withdraw/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWithdrawal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/periods/{period}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["closePeriod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeposits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWithdrawals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/agent-registration.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentRegistration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTasks"];
        put?: never;
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/assignees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAssignees"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTaskStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete: operations["cancelTask"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["claimTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["extendClaim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["completeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/swarms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSwarms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/swarm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createSwarm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/escrow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEscrows"];
        put?: never;
        post: operations["createEscrow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/escrow/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEscrow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/escrow/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["releaseEscrow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wallet/escrow/{id}/refund": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["refundEscrow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCallStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls/cache": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCallCaches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/calls/{id}/explained": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["explainCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-session-costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCodingSessionCosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCodingSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCodingSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-sessions/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["stopCodingSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-sessions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resumeCodingSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/coding-sessions/{id}/facts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["addCodingSessionFacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getConfig"];
        put?: never;
        post: operations["setConfig"];
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateConfig"];
        trace?: never;
    };
    "/api/config/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listConfigKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/config/model": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getModelConfig"];
        put?: never;
        post: operations["setModelConfig"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/available-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAvailableModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upstreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUpstreams"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upstreams/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testUpstream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/candidates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCandidates"];
        put?: never;
        post: operations["explainRoutes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upstreams/{name}/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["tryUpstream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gaze/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["storeGaze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gaze/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listGazeRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gaze/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listGazeSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gaze/analyze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["analyzeGaze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/attestation/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAttestation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/verify-session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verifySession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReviews"];
        put?: never;
        post: operations["createReview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reviews/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reviews/{id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["addReviewEvidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reviews/{id}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["decideReview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/reviews/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verifyReviewReceipt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/gazeway-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSigningKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMemories"];
        put?: never;
        post: operations["storeMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["searchMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["recallMemory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMemoryStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSessions"];
        put?: never;
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["searchSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch: operations["updateSession"];
        trace?: never;
    };
    "/api/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/chat/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["streamChat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/skills/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSkillCategories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/skills/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSkill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMcpServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/model/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getModelInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/detailed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDetailedHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listProfiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPassed"];
        put: operations["putPassed"];
        post: operations["postPassed"];
        delete: operations["deletePassed"];
        options: operations["optionsPassed"];
        head: operations["headPassed"];
        patch: operations["patchPassed"];
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Health: {
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
            uptime_seconds: number;
            store: {
                engine: string;
                ok: boolean;
            };
            provider: {
                name: string;
                configured: boolean;
                reachable: boolean | null;
            };
            providers: {
                name: string;
                configured: boolean;
                reachable: boolean | null;
            }[];
            /** @enum {string} */
            mode: "enhanced" | "portable" | "disconnected";
            upstream: {
                url: string | null;
                reachable: boolean;
                /** @enum {string} */
                kind: "gazeway" | "agent_gateway" | "unknown";
                version: string | null;
                supported: boolean;
                /** @constant */
                target: "0.17";
                latency_ms: number | null;
                checked_at: string | null;
                error: string | null;
            };
        };
        GatewayStatus: {
            /** @enum {string} */
            mode: "enhanced" | "portable" | "disconnected";
            capabilities: ("gaze_data_storage" | "gaze_data_retrieval" | "gaze_pattern_analysis" | "context_awareness" | "ai_chat" | "usage_analytics" | "tempo_billing" | "task_escrow")[];
            features: {
                payments: boolean;
                escrow: boolean;
                gaze: boolean;
                swarm: boolean;
                memory: boolean;
                sessions: boolean;
                skills: boolean;
                config: boolean;
                socket: boolean;
            };
            upstream: {
                url: string | null;
                reachable: boolean;
                /** @enum {string} */
                kind: "gazeway" | "agent_gateway" | "unknown";
                version: string | null;
                supported: boolean;
                /** @constant */
                target: "0.17";
                latency_ms: number | null;
                checked_at: string | null;
                error: string | null;
            };
        };
        RunDoctorReply: {
            at: string;
            healthy: boolean;
            items: {
                name: string;
                /** @enum {string} */
                verdict: "ok" | "warn" | "fail";
                text: string;
                settings: string | null;
            }[];
            total: number;
        };
        Key: {
            id: string;
            name: string;
            scopes: ("inference" | "platform" | "admin")[];
            group: string | null;
            wallet: string | null;
            /** @enum {string} */
            billing: "recorded" | "cost" | "metered";
            limits: {
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[];
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent: number | null;
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            models: string[] | null;
            lenient: boolean;
            /** @enum {string} */
            cache: "auto" | "off";
            expires_at: string | null;
            created_at: string;
            last_used_at: string | null;
            rotated_at: string | null;
            revoked_at: string | null;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
        };
        ListKeysReply: {
            items: components["schemas"]["Key"][];
            total: number;
            next_cursor: string | null;
        };
        Burn: {
            id: string;
            /** @enum {string} */
            kind: "key" | "group";
            name: string;
            group: string | null;
            billing: ("recorded" | "cost" | "metered") | null;
            balance: {
                available_usd: number;
                credit_limit_usd: number;
                left_usd: number;
            } | null;
            budget: {
                owner: string;
                /** @enum {string} */
                per: "day" | "week" | "month" | "total";
                usd: number;
                spent_usd: number;
                left_usd: number;
                resets_at: string | null;
            } | null;
            burned_24h_usd: number;
            runs_out: ("balance" | "budget") | null;
            time_left_seconds: number | null;
        };
        ListBurnReply: {
            items: components["schemas"]["Burn"][];
            total: number;
            next_cursor: string | null;
        };
        BudgetsInput: {
            usd: number;
            /** @enum {string} */
            per: "day" | "week" | "month" | "total";
        }[];
        NewKey: {
            name: string;
            scopes?: ("inference" | "platform" | "admin")[];
            group?: string | null;
            wallet?: string | null;
            /** @enum {string} */
            billing?: "recorded" | "cost" | "metered";
            limits?: {
                credit_limit_usd?: number | null;
                budgets?: components["schemas"]["BudgetsInput"] | null;
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrent?: number | null;
                session_usd?: number | null;
                session_calls?: number | null;
                session_minutes?: number | null;
                repeats?: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts?: {
                at: number;
                /** @constant */
                of?: "budget";
            }[];
            models?: string[] | null;
            lenient?: boolean;
            /** @enum {string} */
            cache?: "auto" | "off";
            expires_at?: string | null;
        };
        CreateKeyReply: {
            id: string;
            name: string;
            scopes: ("inference" | "platform" | "admin")[];
            group: string | null;
            wallet: string | null;
            /** @enum {string} */
            billing: "recorded" | "cost" | "metered";
            limits: {
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[];
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent: number | null;
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            models: string[] | null;
            lenient: boolean;
            /** @enum {string} */
            cache: "auto" | "off";
            expires_at: string | null;
            created_at: string;
            last_used_at: string | null;
            rotated_at: string | null;
            revoked_at: string | null;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            warnings: string[];
            key: string;
        };
        UpdateKeyBody: {
            name?: string;
            group?: string | null;
            /** @enum {string} */
            billing?: "recorded" | "cost" | "metered";
            limits?: {
                credit_limit_usd?: number | null;
                budgets?: components["schemas"]["BudgetsInput"] | null;
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrent?: number | null;
                session_usd?: number | null;
                session_calls?: number | null;
                session_minutes?: number | null;
                repeats?: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts?: {
                at: number;
                /** @constant */
                of?: "budget";
            }[];
            models?: string[] | null;
            lenient?: boolean;
            /** @enum {string} */
            cache?: "auto" | "off";
            expires_at?: string | null;
        };
        UpdateKeyReply: {
            id: string;
            name: string;
            scopes: ("inference" | "platform" | "admin")[];
            group: string | null;
            wallet: string | null;
            /** @enum {string} */
            billing: "recorded" | "cost" | "metered";
            limits: {
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[];
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent: number | null;
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            models: string[] | null;
            lenient: boolean;
            /** @enum {string} */
            cache: "auto" | "off";
            expires_at: string | null;
            created_at: string;
            last_used_at: string | null;
            rotated_at: string | null;
            revoked_at: string | null;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            warnings: string[];
        };
        RotateKeyBody: {
            grace_seconds?: number;
        };
        RotateKeyReply: {
            id: string;
            name: string;
            scopes: ("inference" | "platform" | "admin")[];
            group: string | null;
            wallet: string | null;
            /** @enum {string} */
            billing: "recorded" | "cost" | "metered";
            limits: {
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[];
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent: number | null;
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            models: string[] | null;
            lenient: boolean;
            /** @enum {string} */
            cache: "auto" | "off";
            expires_at: string | null;
            created_at: string;
            last_used_at: string | null;
            rotated_at: string | null;
            revoked_at: string | null;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            key: string;
            previous_expires_at: string | null;
        };
        Balances: {
            available_usd: number;
            held_usd: number;
            escrow_usd: number;
            debt_usd: number;
            credit_limit_usd: number;
            budgets: {
                /** @enum {string} */
                per: "day" | "week" | "month" | "total";
                usd: number;
                spent_usd: number;
                resets_at: string | null;
            }[];
        };
        RevokeKeyReply: {
            id: string;
            name: string;
            scopes: ("inference" | "platform" | "admin")[];
            group: string | null;
            wallet: string | null;
            /** @enum {string} */
            billing: "recorded" | "cost" | "metered";
            limits: {
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[];
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent: number | null;
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            models: string[] | null;
            lenient: boolean;
            /** @enum {string} */
            cache: "auto" | "off";
            expires_at: string | null;
            created_at: string;
            last_used_at: string | null;
            rotated_at: string | null;
            revoked_at: string | null;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            balances: components["schemas"]["Balances"];
        };
        ReleaseKeySpendingReply: {
            released_usd: number;
        };
        Group: {
            id: string;
            name: string;
            budgets: {
                usd: number;
                /** @enum {string} */
                per: "day" | "week" | "month" | "total";
            }[];
            limits: {
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            keys: number;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            created_at: string;
        };
        ListGroupsReply: {
            items: components["schemas"]["Group"][];
            total: number;
            next_cursor: string | null;
        };
        NewGroup: {
            name: string;
            budgets?: components["schemas"]["BudgetsInput"];
            limits?: {
                session_usd?: number | null;
                session_calls?: number | null;
                session_minutes?: number | null;
                repeats?: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts?: {
                at: number;
                /** @constant */
                of?: "budget";
            }[];
        };
        CreateGroupReply: {
            id: string;
            name: string;
            budgets: {
                usd: number;
                /** @enum {string} */
                per: "day" | "week" | "month" | "total";
            }[];
            limits: {
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            keys: number;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            created_at: string;
            warnings: string[];
        };
        UpdateGroupBody: {
            name?: string;
            budgets?: components["schemas"]["BudgetsInput"];
            limits?: {
                session_usd?: number | null;
                session_calls?: number | null;
                session_minutes?: number | null;
                repeats?: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts?: {
                at: number;
                /** @constant */
                of?: "budget";
            }[];
        };
        UpdateGroupReply: {
            id: string;
            name: string;
            budgets: {
                usd: number;
                /** @enum {string} */
                per: "day" | "week" | "month" | "total";
            }[];
            limits: {
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            alerts: {
                at: number;
                /** @constant */
                of: "budget";
            }[];
            keys: number;
            spend: {
                day_usd: number;
                week_usd: number;
                month_usd: number;
                total_usd: number;
            };
            debt_usd: number;
            presumed_usd: number;
            created_at: string;
            warnings: string[];
        };
        ReleaseGroupSpendingReply: {
            released_usd: number;
        };
        ForgiveKeyDebtReply: {
            id: string;
            forgiven_usd: number;
        };
        ForgiveGroupDebtReply: {
            id: string;
            forgiven_usd: number;
        };
        ForgetCallerReply: {
            id: string;
            erased: {
                [key: string]: number;
            };
        };
        Connection: {
            id: string;
            user: string;
            /** @enum {string} */
            role: "user" | "admin";
            session_id: string;
            key_id: string;
            remote: string;
            messages: number;
            connected_at: string;
            last_active_at: string;
        };
        ListConnectionsReply: {
            items: components["schemas"]["Connection"][];
            total: number;
            next_cursor: string | null;
        };
        CreateConnectionBody: {
            user: string;
            /** @enum {string} */
            role?: "user" | "admin";
        };
        CreateConnectionReply: {
            id: string;
            url: string;
            ticket: string;
            expires_at: string;
        };
        CloseConnectionReply: {
            id: string;
            /** @enum {string} */
            status: "closed" | "closing" | "cancelled";
        };
        CallMeteredBody: {
            model: string;
            prompt: string;
            max_tokens?: number;
            tools?: ("web_search" | "x_search")[];
            caller_id: string;
        };
        Usage: {
            prompt_tokens: number;
            completion_tokens: number;
            total_tokens: number;
            cached_tokens?: number;
            cache_write_tokens?: number;
            cache_write_1h_tokens?: number;
            estimated?: boolean;
        };
        Receipt: {
            call_id: string;
            result: {
                /** @constant */
                role: "assistant";
                content: string;
            };
            usage: components["schemas"]["Usage"];
            billing: {
                upstream_cost_usd: number;
                margin_usd: number;
                total_usd: number;
                token: string;
            };
            latency_ms: number;
        };
        ListReceiptsReply: {
            items: {
                call_id: string;
                usage: components["schemas"]["Usage"];
                billing: {
                    upstream_cost_usd: number;
                    margin_usd: number;
                    total_usd: number;
                    token: string;
                };
                latency_ms: number;
                caller_id: string;
                model: string;
                path: string;
                at: string;
                caller_name: string | null;
                group_id: string | null;
                session: string | null;
                upstream: string;
                price: {
                    input: number;
                    output: number;
                    cached_input?: number;
                    cache_write?: number;
                    cache_write_1h?: number;
                    audio_input?: number;
                    cached_audio_input?: number;
                    audio_output?: number;
                    image_input?: number;
                    cached_image_input?: number;
                    image_output?: number;
                    video_input?: number;
                    cached_video_input?: number;
                    video_output?: number;
                    tier: string | null;
                    /** @constant */
                    mixed?: true;
                    /** @enum {string} */
                    from: "configuration" | "catalogue" | "fixed" | "free" | "dearest" | "flat";
                    id?: string;
                    source?: string;
                    date?: string;
                    audio?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    image?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    video?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                } | null;
                charged: boolean;
                capped: boolean;
                stated: boolean;
                absorbed_usd: number;
                debt_usd: number;
                transfer: string | null;
                upstream_call_id: string | null;
            }[];
            total: number;
            next_cursor: string | null;
            totals: {
                calls: number;
                total_tokens: number;
                upstream_cost_usd: number;
                margin_usd: number;
                total_usd: number;
            };
            by_caller: {
                calls: number;
                total_tokens: number;
                upstream_cost_usd: number;
                margin_usd: number;
                total_usd: number;
                caller_id: string;
            }[];
            groups: {
                calls: number;
                total_tokens: number;
                upstream_cost_usd: number;
                margin_usd: number;
                total_usd: number;
                key: string;
                caller_id?: string;
            }[];
        };
        Pricing: {
            /** @constant */
            currency: "USD";
            token: string;
            network: string;
            margin_usd: number;
            models: {
                id: string;
                use: string;
                price_per_1k_tokens_usd: number;
                prices_per_1m_tokens_usd: {
                    input: number;
                    output: number;
                    cached_input?: number;
                    cache_write?: number;
                    cache_write_1h?: number;
                };
            }[];
        };
        DepositBody: {
            caller_id: string;
            amount_usd: number;
            reference?: string;
        };
        DepositReceipt: {
            caller_id: string;
            amount_usd: number;
            reference: string;
            at: string;
            available_usd: number;
        };
        ChainBalance: {
            chain_id: number;
            chain: string;
            address: string;
            native: {
                symbol: string;
                amount: string;
                raw: string;
                decimals: number;
            } | null;
            tokens: {
                symbol: string;
                amount: string;
                raw: string;
                decimals: number;
                address: string;
            }[];
            block_number: number | null;
            as_of: string;
            error: string | null;
        };
        Wallet: {
            address: string | null;
            agent: string;
            /** @enum {string} */
            settlement: "ledger" | "evm";
            ledger: components["schemas"]["Balances"];
            balances: components["schemas"]["ChainBalance"][];
        };
        ListBalancesReply: {
            items: components["schemas"]["ChainBalance"][];
            total: number;
        };
        ListLedgerEntriesReply: {
            items: {
                key: string;
                position: number;
                /** @enum {string} */
                kind: "deposit" | "reserve" | "capture" | "charge" | "void" | "lock" | "release" | "refund" | "settle" | "withdraw" | "bind" | "purchase" | "return";
                at: string;
                amount_usd: number;
                entries: {
                    account: string;
                    amount_usd: number;
                }[];
                memo: string | null;
                hash: string;
            }[];
            total: number;
            next_cursor: string | null;
            caller_id: string;
            balances: components["schemas"]["Balances"];
        };
        WithdrawBody: {
            caller_id: string;
            amount_usd: number;
            to: string;
        };
        Withdrawal: {
            caller_id: string;
            amount_usd: number;
            to: string;
            id: string;
            token: string;
            settlement: {
                /** @enum {string} */
                status: "none" | "pending" | "submitted" | "confirmed" | "failed";
                tx_hash: string | null;
                attempts: number;
                error: string | null;
            };
            created_at: string;
            settled_at: string | null;
        };
        Statement: {
            period: string;
            starts_at: string;
            ends_at: string;
            closed_at: string | null;
            of: {
                /** @enum {string} */
                kind: "caller" | "group" | "all";
                id: string | null;
            };
            /** @constant */
            currency: "USD";
            /** @enum {string} */
            group_by?: "session" | "repository" | "branch" | "commit" | "client" | "tag";
            opening_usd: number;
            movements: {
                day: string;
                kind: string;
                count: number;
                amount_usd: number;
            }[];
            charges: {
                day: string | null;
                model: string | null;
                upstream: string | null;
                group?: string | null;
                caller_id?: string;
                charged: boolean;
                calls: number;
                prompt_tokens: number;
                cached_tokens: number;
                cache_write_tokens: number;
                cache_write_1h_tokens: number;
                completion_tokens: number;
                price: {
                    input: number;
                    output: number;
                    cached_input?: number;
                    cache_write?: number;
                    cache_write_1h?: number;
                    audio_input?: number;
                    cached_audio_input?: number;
                    audio_output?: number;
                    image_input?: number;
                    cached_image_input?: number;
                    image_output?: number;
                    video_input?: number;
                    cached_video_input?: number;
                    video_output?: number;
                    tier: string | null;
                    /** @constant */
                    mixed?: true;
                    /** @enum {string} */
                    from: "configuration" | "catalogue" | "fixed" | "free" | "dearest" | "flat";
                    id?: string;
                    source?: string;
                    date?: string;
                    audio?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    image?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    video?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                } | null;
                upstream_cost_usd: number;
                margin_usd: number;
                total_usd: number;
                estimated_calls: number;
                capped_calls: number;
                stated_calls: number;
                absorbed_usd: number;
                debt_usd: number;
            }[];
            totals: {
                deposits_usd: number;
                refunds_usd: number;
                escrow_usd: number;
                earned_usd: number;
                withdrawals_usd: number;
                purchases_usd: number;
                moved_usd: number;
                charges_usd: number;
                upstream_cost_usd: number;
                margin_usd: number;
                recorded_usd: number;
                settlements_usd: number;
                absorbed_usd: number;
                debts_usd: number;
            };
            closing_usd: number;
            ledger_head: string;
            signature: {
                /** @constant */
                payloadType: "application/vnd.in-toto+json";
                payload: string;
                signatures: {
                    keyid?: string;
                    sig: string;
                }[];
            };
        };
        ClosePeriodReply: {
            period: string;
            starts_at: string;
            ends_at: string;
            closed_at: string;
            closed_by: string;
            ledger_head: string | null;
        };
        Deposit: {
            reference: string;
            caller_id: string;
            amount_usd: number;
            at: string;
            hash: string;
        };
        ListDepositsReply: {
            items: components["schemas"]["Deposit"][];
            total: number;
            next_cursor: string | null;
        };
        Payment: {
            id: string;
            method: string;
            payer: string;
            caller_id: string;
            amount_usd: number;
            scope: string;
            reference: string | null;
            status: string;
            created_at: string;
        };
        ListPaymentsReply: {
            items: components["schemas"]["Payment"][];
            total: number;
            next_cursor: string | null;
        };
        ListWithdrawalsReply: {
            items: components["schemas"]["Withdrawal"][];
            total: number;
            next_cursor: string | null;
        };
        AgentRegistration: {
            /** @constant */
            type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";
            name: string;
            description: string;
            image: string;
            services: {
                name: string;
                endpoint: string;
                version?: string;
            }[];
            x402Support: boolean;
            active: boolean;
            registrations: {
                agentId: number;
                agentRegistry: string;
            }[];
            supportedTrust: string[];
        };
        NewTask: {
            title: string;
            description?: string;
            reward_usd?: number;
            capabilities?: string[];
            gaze_required?: boolean;
            /** @enum {string} */
            gaze_level?: "seen" | "plausible";
            review?: {
                coverage?: number;
                /** @enum {string} */
                level?: "seen" | "plausible";
            };
            recipient?: string | "key_environment";
            depends_on?: string[];
            ttl_seconds?: number;
        };
        Task: {
            id: string;
            title: string;
            description: string;
            reward_usd: number;
            capabilities: string[];
            /** @enum {string} */
            status: "blocked" | "open" | "claimed" | "completed" | "failed" | "cancelled";
            creator: string;
            agent: string | null;
            claimed_by: string | null;
            result: unknown;
            gaze_required: boolean;
            gaze_level: ("seen" | "plausible") | null;
            review: {
                coverage: number;
                /** @enum {string} */
                level: "seen" | "plausible";
            } | null;
            depends_on: string[];
            swarm_id: string | null;
            escrow_id: string | null;
            lease_expires_at: string | null;
            claimed_at: string | null;
            completed_at: string | null;
            reward_expires_at: string | null;
            reward_settlement: ("ledger" | "evm") | null;
            created_at: string;
            updated_at: string;
        };
        ListTasksReply: {
            items: components["schemas"]["Task"][];
            total: number;
            next_cursor: string | null;
            tasks?: {
                id: string;
                title: string;
                description: string;
                /** @enum {string} */
                column: "backlog" | "todo" | "in_progress" | "done" | "deleted";
                /** @constant */
                priority: "medium";
                assignee: string | null;
                tags: string[];
                due_date: null;
                position: number;
                created_by: string;
                created_at: string;
                updated_at: string;
            }[];
        };
        ListAssigneesReply: {
            assignees: {
                id: string;
                label: string;
                /** @constant */
                isHuman: false;
            }[];
        };
        TaskStats: {
            total: number;
            by_status: {
                blocked: number;
                open: number;
                claimed: number;
                completed: number;
                failed: number;
                cancelled: number;
            };
            reward_usd: {
                locked: number;
                paid: number;
                refunded: number;
            };
        };
        ClaimTaskBody: {
            agent: string;
            attestation_id?: string;
            lease_seconds?: number;
        };
        ClaimTaskReply: {
            id: string;
            title: string;
            description: string;
            reward_usd: number;
            capabilities: string[];
            /** @enum {string} */
            status: "blocked" | "open" | "claimed" | "completed" | "failed" | "cancelled";
            creator: string;
            agent: string | null;
            claimed_by: string | null;
            result: unknown;
            gaze_required: boolean;
            gaze_level: ("seen" | "plausible") | null;
            review: {
                coverage: number;
                /** @enum {string} */
                level: "seen" | "plausible";
            } | null;
            depends_on: string[];
            swarm_id: string | null;
            escrow_id: string | null;
            lease_expires_at: string | null;
            claimed_at: string | null;
            completed_at: string | null;
            reward_expires_at: string | null;
            reward_settlement: ("ledger" | "evm") | null;
            created_at: string;
            updated_at: string;
            claim_token: string;
        };
        ExtendClaimBody: {
            claim_token?: string;
            agent?: string;
        };
        CompleteTaskBody: {
            agent: string;
            claim_token?: string;
            result?: string | number | boolean | null | unknown[] | {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status?: "completed" | "failed";
        };
        Swarm: {
            swarm_id: string;
            goal: string;
            /** @enum {string} */
            status: "running" | "completed" | "failed" | "cancelled";
            tasks: {
                by_status: {
                    blocked: number;
                    open: number;
                    claimed: number;
                    completed: number;
                    failed: number;
                    cancelled: number;
                };
            };
            reward_usd: number;
            creator: string;
            created_at: string;
        };
        ListSwarmsReply: {
            items: components["schemas"]["Swarm"][];
            total: number;
            next_cursor: string | null;
        };
        CreateSwarmBody: {
            goal: string;
            max_tasks?: number;
            reward_usd?: number;
            capabilities?: string[];
            dry_run?: boolean;
            gaze_required?: boolean;
            /** @enum {string} */
            gaze_level?: "seen" | "plausible";
            recipient?: string | "key_environment";
            ttl_seconds?: number;
        };
        CreateSwarmReply: {
            swarm_id: string | null;
            goal: string;
            tasks: components["schemas"]["Task"][] | {
                id: string;
                title: string;
                description: string;
                capabilities: string[];
                depends_on: string[];
                reward_usd: number;
            }[];
            edges: [
                string,
                string
            ][];
            order: string[];
            call_id: string;
        };
        NewEscrow: {
            task_id: string;
            amount_usd: number;
            recipient?: string | "key_environment";
            ttl_seconds?: number;
        };
        Escrow: {
            id: string;
            task_id: string;
            amount_usd: number;
            token: string;
            payer: string;
            recipient: string | null;
            /** @enum {string} */
            status: "locked" | "released" | "settled" | "expired" | "refunded";
            gaze: {
                required: boolean;
                attestation_id: string | null;
            };
            settlement: {
                /** @enum {string} */
                mode: "ledger" | "evm";
                /** @enum {string} */
                status: "none" | "pending" | "submitted" | "confirmed" | "failed";
                tx_hash: string | null;
                attempts: number;
                error: string | null;
            };
            reason: string | null;
            created_at: string;
            expires_at: string;
            released_at: string | null;
            settled_at: string | null;
            refunded_at: string | null;
        };
        ListEscrowsReply: {
            items: components["schemas"]["Escrow"][];
            total: number;
            next_cursor: string | null;
        };
        ReleaseEscrowBody: {
            escrow_id: string;
            attestation_id: string;
            recipient?: string | "key_environment";
        };
        RefundEscrowBody: {
            reason?: string;
        };
        Call: {
            call_id: string;
            at: string;
            /** @enum {string} */
            surface: "stdio" | "http" | "platform" | "socket";
            caller_id: string | null;
            address: string | null;
            path: string;
            requested_model: string | null;
            model: string | null;
            upstream: string;
            stream: boolean;
            /** @enum {string} */
            status: "ok" | "error" | "aborted" | "hedged" | "refused";
            http_status: number | null;
            fallback_from: string | null;
            skipped: {
                upstream: string;
                /** @enum {string} */
                reason: "circuit_open" | "keys_resting";
            }[];
            latency_ms: number;
            first_token_ms: number | null;
            timing?: {
                queue_ms: number | null;
                first_byte_ms: number | null;
                first_thought_ms: number | null;
                first_text_ms: number | null;
            };
            usage: components["schemas"]["Usage"] | null;
            upstream_cost_usd: number | null;
            cache?: {
                saved_usd: number;
                missed_tokens: number;
                missed_usd: number;
                changed: ("tools" | "instructions") | null;
            };
            price_from: ("stated" | "configuration" | "catalogue" | "fixed" | "free" | "dearest" | "flat" | "own_key" | "own_plan") | null;
            provider_key: string | null;
            session_id: string | null;
            thread_id: string | null;
            parent_id: string | null;
            turn_id: string | null;
            kind: string | null;
            client: string | null;
            client_version: string | null;
            tags?: string[];
            error: string | null;
            changed?: string[];
            content?: unknown;
        };
        ListCallsReply: {
            items: components["schemas"]["Call"][];
            total: number;
            next_cursor: string | null;
        };
        CallStats: {
            totals: {
                calls: number;
                errors: number;
                refused: number;
                error_rate: number;
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
                upstream_cost_usd: number;
                cache: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                    hit_rate: number | null;
                    saved_usd: number;
                    missed_tokens: number;
                    missed_usd: number;
                };
                latency_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
            };
            groups: {
                calls: number;
                errors: number;
                refused: number;
                error_rate: number;
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
                upstream_cost_usd: number;
                cache: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                    hit_rate: number | null;
                    saved_usd: number;
                    missed_tokens: number;
                    missed_usd: number;
                };
                latency_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                key: string;
                caller_id?: string;
            }[];
            and_groups?: {
                calls: number;
                errors: number;
                refused: number;
                error_rate: number;
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
                upstream_cost_usd: number;
                cache: {
                    cached_tokens: number;
                    cache_write_tokens: number;
                    hit_rate: number | null;
                    saved_usd: number;
                    missed_tokens: number;
                    missed_usd: number;
                };
                latency_ms: {
                    p50: number | null;
                    p95: number | null;
                    p99: number | null;
                };
                key: string;
                caller_id?: string;
            }[];
            fallbacks: {
                requests: number;
                fallen_back: number;
                rate: number;
            } | null;
        };
        ListCallCachesReply: {
            cached_tokens: number;
            cache_write_tokens: number;
            hit_rate: number | null;
            saved_usd: number;
            missed_tokens: number;
            missed_usd: number;
            calls: number;
            prompt_tokens: number;
            changed_tools: number;
            changed_instructions: number;
        };
        StreamCallsReply: {
            items: components["schemas"]["Call"][];
        };
        ExplainCallReply: {
            call: components["schemas"]["Call"];
            attempts: components["schemas"]["Call"][];
            before: string | null;
            key: components["schemas"]["Key"] | null;
            group: components["schemas"]["Group"] | null;
            route: {
                model: string;
                /** @enum {string} */
                by: "route" | "name" | "models" | "default";
                route: number | null;
                candidates: {
                    upstream: string;
                    model: string;
                    id: string;
                    weight: number;
                    configured: boolean;
                    skipped: ("no_key" | "circuit_open" | "keys_resting") | null;
                }[];
            } | null;
            receipts: {
                call_id: string;
                usage: components["schemas"]["Usage"];
                billing: {
                    upstream_cost_usd: number;
                    margin_usd: number;
                    total_usd: number;
                    token: string;
                };
                latency_ms: number;
                caller_id: string;
                model: string;
                path: string;
                at: string;
                caller_name: string | null;
                group_id: string | null;
                session: string | null;
                upstream: string;
                price: {
                    input: number;
                    output: number;
                    cached_input?: number;
                    cache_write?: number;
                    cache_write_1h?: number;
                    audio_input?: number;
                    cached_audio_input?: number;
                    audio_output?: number;
                    image_input?: number;
                    cached_image_input?: number;
                    image_output?: number;
                    video_input?: number;
                    cached_video_input?: number;
                    video_output?: number;
                    tier: string | null;
                    /** @constant */
                    mixed?: true;
                    /** @enum {string} */
                    from: "configuration" | "catalogue" | "fixed" | "free" | "dearest" | "flat";
                    id?: string;
                    source?: string;
                    date?: string;
                    audio?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    image?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                    video?: {
                        input_tokens: number;
                        cached_input_tokens: number;
                        output_tokens: number;
                    };
                } | null;
                charged: boolean;
                capped: boolean;
                stated: boolean;
                absorbed_usd: number;
                debt_usd: number;
                transfer: string | null;
                upstream_call_id: string | null;
            }[];
            transfers: {
                key: string;
                position: number;
                /** @enum {string} */
                kind: "deposit" | "reserve" | "capture" | "charge" | "void" | "lock" | "release" | "refund" | "settle" | "withdraw" | "bind" | "purchase" | "return";
                at: string;
                amount_usd: number;
                entries: {
                    account: string;
                    amount_usd: number;
                }[];
                memo: string | null;
                hash: string;
            }[];
        };
        ListCodingSessionCostsReply: {
            lines: {
                sessions: number;
                calls: number;
                prompt_tokens: number;
                cached_tokens: number;
                completion_tokens: number;
                cost_usd: number;
                key: string | null;
                caller_id: string | null;
                at: string;
                subject: string | null;
                branch: string | null;
            }[];
            total: {
                sessions: number;
                calls: number;
                prompt_tokens: number;
                cached_tokens: number;
                completion_tokens: number;
                cost_usd: number;
            };
        };
        CodingSession: {
            id: string;
            key: string | null;
            client: {
                name: string | null;
                version: string | null;
            };
            repository: string | null;
            branch: string | null;
            commit: string | null;
            calls: number;
            errors: number;
            refused: number;
            retries: number;
            turns: number | null;
            usage: {
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
            };
            cache: {
                cached_tokens: number;
                cache_write_tokens: number;
                hit_rate: number | null;
                saved_usd: number;
                missed_tokens: number;
                missed_usd: number;
            };
            cost_usd: number;
            /** @enum {string} */
            state: "active" | "stopped";
            started_at: string;
            last_at: string;
            duration_seconds: number;
        };
        ListCodingSessionsReply: {
            items: components["schemas"]["CodingSession"][];
            total: number;
            next_cursor: string | null;
        };
        CodingSessionDetails: {
            id: string;
            key: string | null;
            client: {
                name: string | null;
                version: string | null;
            };
            repository: string | null;
            branch: string | null;
            commit: string | null;
            calls: number;
            errors: number;
            refused: number;
            retries: number;
            turns: number | null;
            usage: {
                prompt_tokens: number;
                completion_tokens: number;
                total_tokens: number;
            };
            cache: {
                cached_tokens: number;
                cache_write_tokens: number;
                hit_rate: number | null;
                saved_usd: number;
                missed_tokens: number;
                missed_usd: number;
            };
            cost_usd: number;
            /** @enum {string} */
            state: "active" | "stopped";
            started_at: string;
            last_at: string;
            duration_seconds: number;
            limits: {
                session_usd: number | null;
                session_calls: number | null;
                session_minutes: number | null;
                repeats: {
                    times: number;
                    minutes: number;
                } | null;
            };
            raised: {
                usd: number;
                calls: number;
                minutes: number;
            };
            stopped_at: string | null;
            stopped_by: string | null;
            by_kind: {
                key: string;
                calls: number;
                total_tokens: number;
                cost_usd: number;
            }[];
            by_model: {
                key: string;
                calls: number;
                total_tokens: number;
                cost_usd: number;
            }[];
            facts: {
                from: string | null;
                to: string | null;
                repository: string | null;
                branch: string | null;
                commit: string | null;
                dirty: boolean | null;
                path: string | null;
            }[];
            commits: {
                sha: string;
                at: string;
                subject: string | null;
                repository: string | null;
                branch: string | null;
            }[];
        };
        StopCodingSessionReply: {
            id: string;
            key: string;
            /** @enum {string} */
            state: "active" | "stopped";
            stopped_at: string | null;
            stopped_by: string | null;
            raised: {
                usd: number;
                calls: number;
                minutes: number;
            };
        };
        ResumeCodingSessionBody: {
            raise_usd?: number;
            raise_calls?: number;
            raise_minutes?: number;
        };
        ResumeCodingSessionReply: {
            id: string;
            key: string;
            /** @enum {string} */
            state: "active" | "stopped";
            stopped_at: string | null;
            stopped_by: string | null;
            raised: {
                usd: number;
                calls: number;
                minutes: number;
            };
        };
        AddCodingSessionFactsBody: {
            repository?: string;
            branch?: string | null;
            commit?: string;
            dirty?: boolean;
            commits?: {
                sha: string;
                at: string;
                subject?: string;
            }[];
            replaced?: string[];
            path?: string;
            client?: string;
            at?: string;
        };
        AddCodingSessionFactsReply: {
            session_id: string;
            repository: string | null;
            branch: string | null;
            commit: string | null;
            dirty: boolean | null;
        };
        Config: {
            config: {
                [key: string]: unknown;
            };
            env: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            flags: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            restart_required: string[];
            capabilities: ("gaze_data_storage" | "gaze_data_retrieval" | "gaze_pattern_analysis" | "context_awareness" | "ai_chat" | "usage_analytics" | "tempo_billing" | "task_escrow")[];
        };
        SetConfigBody: {
            [key: string]: unknown;
        };
        SetConfigReply: {
            config: {
                [key: string]: unknown;
            };
            env: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            flags: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            restart_required: string[];
            capabilities: ("gaze_data_storage" | "gaze_data_retrieval" | "gaze_pattern_analysis" | "context_awareness" | "ai_chat" | "usage_analytics" | "tempo_billing" | "task_escrow")[];
            changed: string[];
            overridden: string[];
        };
        UpdateConfigBody: {
            [key: string]: unknown;
        };
        UpdateConfigReply: {
            config: {
                [key: string]: unknown;
            };
            env: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            flags: {
                [key: string]: {
                    path: string;
                    value: unknown;
                };
            };
            restart_required: string[];
            capabilities: ("gaze_data_storage" | "gaze_data_retrieval" | "gaze_pattern_analysis" | "context_awareness" | "ai_chat" | "usage_analytics" | "tempo_billing" | "task_escrow")[];
            changed: string[];
            overridden: string[];
        };
        ListConfigKeysReply: {
            items: {
                key: string;
                description: string;
                accepts: string;
                schema: {
                    [key: string]: unknown;
                };
                default: unknown;
                has_entries: boolean;
                secret: boolean;
                restart: boolean;
                environment_only: boolean;
            }[];
            total: number;
        };
        ModelConfig: {
            provider: string;
            base_url: string | null;
            models: {
                primary: string;
                fallback: string;
                chat: string;
            };
            aliases: {
                [key: string]: string;
            };
            preset_aliases: {
                [key: string]: string;
            };
            api_key_set: boolean;
            api_key_needed: boolean;
        };
        SetModelConfigBody: {
            provider?: string;
            base_url?: string;
            models?: {
                primary?: string | null;
                fallback?: string | null;
                chat?: string | null;
            };
            aliases?: {
                [key: string]: string;
            } | null;
            api_key?: string | null;
            api_key_set?: boolean;
            api_key_needed?: boolean;
            preset_aliases?: {
                [key: string]: string;
            };
        };
        SetModelConfigReply: {
            provider: string;
            base_url: string | null;
            models: {
                primary: string;
                fallback: string;
                chat: string;
            };
            aliases: {
                [key: string]: string;
            };
            preset_aliases: {
                [key: string]: string;
            };
            api_key_set: boolean;
            api_key_needed: boolean;
            changed: string[];
            restart_required: string[];
            overridden: string[];
        };
        ListAvailableModelsReply: {
            /** @constant */
            object: "list";
            provider: string;
            models: {
                id: string;
                /** @constant */
                object: "model";
                created: number;
                owned_by: string;
                description: string;
            }[];
            items: {
                id: string;
                /** @constant */
                object: "model";
                created: number;
                owned_by: string;
                description: string;
            }[];
            data: {
                id: string;
                /** @constant */
                object: "model";
                created: number;
                owned_by: string;
                description: string;
            }[];
            total: number;
            providers: {
                id: string;
                label: string;
                authenticated: boolean;
            }[];
        };
        ListUpstreamsReply: {
            items: {
                name: string;
                provider: string;
                base_url: string;
                /** @enum {string} */
                protocol: "openai" | "anthropic";
                configured: boolean;
                reachable: boolean | null;
                keys: number;
                resting_keys: {
                    key: number;
                    model: string | null;
                    seconds: number;
                }[];
                open_circuits: {
                    path: string | null;
                    model: string | null;
                    for_everyone: boolean;
                }[];
                model_list: {
                    at: string;
                    error: string | null;
                } | null;
                calls: number;
                error_rate: number | null;
                latency_ms: number | null;
            }[];
            total: number;
        };
        TestUpstreamBody: {
            model: string;
        };
        TestUpstreamReply: {
            ok: boolean;
            status: number | null;
            latency_ms: number;
            text: string;
            call_id: string | null;
        };
        ListCandidatesReply: {
            model: string;
            /** @enum {string} */
            by: "route" | "name" | "models" | "default";
            route: number | null;
            candidates: {
                upstream: string;
                model: string;
                id: string;
                weight: number;
                configured: boolean;
                skipped: ("no_key" | "circuit_open" | "keys_resting") | null;
            }[];
        };
        ExplainRoutesBody: {
            model: string;
            routes: unknown;
        };
        ExplainRoutesReply: {
            model: string;
            /** @enum {string} */
            by: "route" | "name" | "models" | "default";
            route: number | null;
            candidates: {
                upstream: string;
                model: string;
                id: string;
                weight: number;
                configured: boolean;
                skipped: ("no_key" | "circuit_open" | "keys_resting") | null;
            }[];
        };
        TryUpstreamBody: {
            changes?: {
                [key: string]: unknown;
            };
            test?: string;
        };
        TryUpstreamReply: {
            /** @enum {string} */
            verdict: "ok" | "warn" | "fail";
            text: string;
            models: {
                id: string;
                input: number | null;
                output: number | null;
                context: number | null;
            }[];
            total: number;
            tested: {
                ok: boolean;
                status: number | null;
                latency_ms: number;
                text: string;
                call_id: string | null;
            } | null;
        };
        StoreGazeBody: {
            session_id?: string;
            task_id?: string;
            records: {
                at: string;
                dwell_ms: number;
                /** @enum {string} */
                source: "eye_tracker" | "webcam" | "ide" | "pointer" | "manual";
                confidence?: number;
                cog?: {
                    focus?: number;
                    load?: number;
                };
                emo?: {
                    valence?: number;
                    arousal?: number;
                };
                env: {
                    path?: string;
                    line_start?: number;
                    line_end?: number;
                    url?: string;
                    app?: string;
                    device?: string;
                    x?: number;
                    y?: number;
                    pupil_mm?: number;
                    distraction?: number;
                };
            }[];
        };
        Attestation: {
            id: string;
            session_id: string;
            task_id: string | null;
            /** @enum {string} */
            status: "collecting" | "passed" | "failed";
            poa_score: number;
            components: {
                coverage: number;
                continuity: number;
                plausibility: number;
                confidence: number;
                freshness: number;
            };
            evidence: {
                coverage: number | null;
                plausibility: number | null;
                novelty: number | null;
                liveness: number | null;
                provenance: number | null;
                reasons: string[];
            };
            /** @enum {string} */
            level: "none" | "seen" | "plausible" | "present" | "live" | "attested";
            replayed: boolean;
            reasons: string[];
            records: number;
            records_needed: number;
            progress: number;
            chain_head: string;
            issued_at: string;
            expires_at: string;
        };
        StoreGazeReply: {
            session_id: string;
            stored: number;
            duplicates: number;
            attestation: components["schemas"]["Attestation"];
        };
        GazeRecord: {
            at: string;
            dwell_ms: number;
            /** @enum {string} */
            source: "eye_tracker" | "webcam" | "ide" | "pointer" | "manual";
            confidence?: number;
            cog?: {
                focus?: number;
                load?: number;
            };
            emo?: {
                valence?: number;
                arousal?: number;
            };
            env: {
                path?: string;
                line_start?: number;
                line_end?: number;
                url?: string;
                app?: string;
                device?: string;
                x?: number;
                y?: number;
                pupil_mm?: number;
                distraction?: number;
            };
            id: string;
            session_id: string;
            task_id: string | null;
            seq: number;
            hash: string;
        };
        ListGazeRecordsReply: {
            items: components["schemas"]["GazeRecord"][];
            total: number;
            next_cursor: string | null;
        };
        GazeSession: {
            session_id: string;
            task_id: string | null;
            caller_id: string | null;
            records: number;
            created_at: string;
            updated_at: string;
            attestation: {
                id: string;
                /** @enum {string} */
                status: "collecting" | "passed" | "failed";
                poa_score: number;
                issued_at: string;
                expires_at: string;
            } | null;
        };
        ListGazeSessionsReply: {
            items: components["schemas"]["GazeSession"][];
            total: number;
            next_cursor: string | null;
        };
        AnalyzeGazeBody: {
            session_id?: string;
            from?: string;
            to?: string;
            question?: string;
            narrate?: boolean;
        };
        AnalyzeGazeReply: {
            metrics: {
                records: number;
                duration_ms: number;
                fixations: {
                    count: number;
                    mean_ms: number | null;
                    median_ms: number | null;
                };
                saccades: {
                    count: number;
                    mean_amplitude: number | null;
                };
                dwell_by_place: {
                    path: string;
                    dwell_ms: number;
                    share: number;
                    visits: number;
                }[];
                dwell_elsewhere: {
                    places: number;
                    dwell_ms: number;
                    share: number;
                    visits: number;
                };
                transitions: {
                    count: number;
                    entropy_bits: number;
                    matrix_top: {
                        from: string;
                        to: string;
                        count: number;
                        probability: number;
                    }[];
                };
                focus: {
                    mean: number | null;
                    trend_per_min: number | null;
                };
                load: {
                    mean: number | null;
                    trend_per_min: number | null;
                };
                valence: {
                    mean: number | null;
                };
                arousal: {
                    mean: number | null;
                };
            };
            classification: {
                /** @enum {string} */
                dominant: "COG" | "EMO" | "ENV";
                cog: number;
                emo: number;
                env: number;
            };
            tensor: string;
            findings: {
                kind: string;
                /** @enum {string} */
                severity: "info" | "notice" | "warning";
                text: string;
                evidence: {
                    [key: string]: number;
                };
            }[];
            truncated: boolean;
            narrative: string | null;
            call_id: string | null;
            narrative_error: string | null;
        };
        VerifySessionBody: {
            session_id?: string;
            key?: string;
            wallet?: string;
        };
        VerifySessionReply: {
            valid: boolean;
            /** @enum {string} */
            tier: "anonymous" | "free" | "metered" | "admin";
            subject: string | null;
            expires_at: string | null;
            capabilities: ("gaze_data_storage" | "gaze_data_retrieval" | "gaze_pattern_analysis" | "context_awareness" | "ai_chat" | "usage_analytics" | "tempo_billing" | "task_escrow")[];
            limits: {
                requests_per_minute: number | null;
                available_usd: number | null;
                credit_limit_usd: number | null;
                budgets: {
                    usd: number;
                    /** @enum {string} */
                    per: "day" | "week" | "month" | "total";
                }[] | null;
            };
        };
        NewReview: {
            base: {
                commit: string;
                tree: string;
            };
            head: {
                commit: string | null;
                tree: string;
            };
            digest: string;
            parts: ({
                /** @constant */
                kind: "hunk";
                path: string;
                digest: string;
                lines: number;
                rows: {
                    /** @enum {string} */
                    kind: " " | "-" | "+";
                    text: string;
                    old: number | null;
                    new: number | null;
                }[];
            } | {
                /** @enum {string} */
                kind: "binary" | "deleted" | "empty" | "large" | "mode" | "moved" | "submodule";
                path: string;
                digest: string;
                /** @constant */
                lines: 1;
                detail: string;
                from?: string;
            })[];
            repository?: string | null;
            policy?: string | null;
            task_id?: string | null;
            checks?: ("question" | "retype" | "canary")[];
        };
        ReviewReceipt: {
            /** @constant */
            mediaType: "application/vnd.gazeway.review-receipt.v1+json";
            envelope: {
                /** @constant */
                payloadType: "application/vnd.in-toto+json";
                payload: string;
                signatures: {
                    keyid?: string;
                    sig: string;
                }[];
            };
            sshsig?: string;
            webauthn?: {
                credential_id: string;
                authenticator_data: string;
                client_data_json: string;
                signature: string;
            };
            observer?: {
                /** @constant */
                payloadType: "application/vnd.in-toto+json";
                payload: string;
                signatures: {
                    keyid?: string;
                    sig: string;
                }[];
            };
        };
        Review: {
            id: string;
            session_id: string;
            caller_id: string;
            base: {
                commit: string;
                tree: string;
            };
            head: {
                commit: string | null;
                tree: string;
            };
            digest: string;
            repository: string | null;
            task_id: string | null;
            created_at: string;
            decided_at: string | null;
            hunks: {
                digest: string;
                kind: string;
                path: string;
                lines: number;
            }[];
            checks: ({
                /** @constant */
                kind: "question";
                path: string;
                options: string[];
            } | {
                /** @constant */
                kind: "retype";
                path: string;
                line: number;
            } | {
                /** @constant */
                kind: "canary";
                path: string;
                after: number;
                hunk: {
                    /** @constant */
                    kind: "hunk";
                    path: string;
                    digest: string;
                    lines: number;
                    rows: {
                        /** @enum {string} */
                        kind: " " | "-" | "+";
                        text: string;
                        old: number | null;
                        new: number | null;
                    }[];
                };
            })[];
            receipt: components["schemas"]["ReviewReceipt"] | null;
        };
        ListReviewsReply: {
            items: components["schemas"]["Review"][];
            total: number;
            next_cursor: string | null;
        };
        ReviewWithParts: {
            id: string;
            session_id: string;
            caller_id: string;
            base: {
                commit: string;
                tree: string;
            };
            head: {
                commit: string | null;
                tree: string;
            };
            digest: string;
            repository: string | null;
            task_id: string | null;
            created_at: string;
            decided_at: string | null;
            hunks: {
                digest: string;
                kind: string;
                path: string;
                lines: number;
            }[];
            checks: ({
                /** @constant */
                kind: "question";
                path: string;
                options: string[];
            } | {
                /** @constant */
                kind: "retype";
                path: string;
                line: number;
            } | {
                /** @constant */
                kind: "canary";
                path: string;
                after: number;
                hunk: {
                    /** @constant */
                    kind: "hunk";
                    path: string;
                    digest: string;
                    lines: number;
                    rows: {
                        /** @enum {string} */
                        kind: " " | "-" | "+";
                        text: string;
                        old: number | null;
                        new: number | null;
                    }[];
                };
            })[];
            receipt: components["schemas"]["ReviewReceipt"] | null;
            parts: ({
                /** @constant */
                kind: "hunk";
                path: string;
                digest: string;
                lines: number;
                rows: {
                    /** @enum {string} */
                    kind: " " | "-" | "+";
                    text: string;
                    old: number | null;
                    new: number | null;
                }[];
            } | {
                /** @enum {string} */
                kind: "binary" | "deleted" | "empty" | "large" | "mode" | "moved" | "submodule";
                path: string;
                digest: string;
                /** @constant */
                lines: 1;
                detail: string;
                from?: string;
            })[];
            reading: {
                active_ms: number;
                ms_per_line: number | null;
                first_scan_ms: number | null;
                /** @enum {string} */
                level: "none" | "seen" | "plausible" | "present" | "live" | "attested";
                parts: {
                    digest: string;
                    path: string;
                    lines: number;
                    seen: number;
                    seen_ms: number;
                    exposed: number;
                    first_ms: number | null;
                    visits: number;
                    pointer_ms: number;
                    selections: number;
                    comments: number;
                    glanced: [
                        number,
                        number
                    ][];
                    unread: [
                        number,
                        number
                    ][];
                }[];
                canary: {
                    digest: string;
                    path: string;
                    lines: number;
                    seen: number;
                    seen_ms: number;
                    exposed: number;
                    first_ms: number | null;
                    visits: number;
                    pointer_ms: number;
                    selections: number;
                    comments: number;
                    glanced: [
                        number,
                        number
                    ][];
                    unread: [
                        number,
                        number
                    ][];
                } | null;
            };
            usual_ms_per_line: number | null;
        };
        AddReviewEvidenceBody: {
            records: {
                at: string;
                dwell_ms: number;
                /** @enum {string} */
                source: "eye_tracker" | "webcam" | "ide" | "pointer" | "manual";
                confidence?: number;
                cog?: {
                    focus?: number;
                    load?: number;
                };
                emo?: {
                    valence?: number;
                    arousal?: number;
                };
                env: {
                    path?: string;
                    line_start?: number;
                    line_end?: number;
                    url?: string;
                    app?: string;
                    device?: string;
                    x?: number;
                    y?: number;
                    pupil_mm?: number;
                    distraction?: number;
                };
            }[];
        };
        AddReviewEvidenceReply: {
            active_ms: number;
            ms_per_line: number | null;
            first_scan_ms: number | null;
            /** @enum {string} */
            level: "none" | "seen" | "plausible" | "present" | "live" | "attested";
            parts: {
                digest: string;
                path: string;
                lines: number;
                seen: number;
                seen_ms: number;
                exposed: number;
                first_ms: number | null;
                visits: number;
                pointer_ms: number;
                selections: number;
                comments: number;
                glanced: [
                    number,
                    number
                ][];
                unread: [
                    number,
                    number
                ][];
            }[];
            canary: {
                digest: string;
                path: string;
                lines: number;
                seen: number;
                seen_ms: number;
                exposed: number;
                first_ms: number | null;
                visits: number;
                pointer_ms: number;
                selections: number;
                comments: number;
                glanced: [
                    number,
                    number
                ][];
                unread: [
                    number,
                    number
                ][];
            } | null;
        };
        DecideReviewBody: {
            reviewer: string;
            /** @enum {string} */
            decision: "approve" | "request_changes" | "comment";
            acknowledged?: string[];
            comments?: {
                path: string | null;
                line: number | null;
                text: string;
            }[];
            credential_id?: string;
            answers?: string[];
        };
        ReviewReceiptInput: {
            /** @constant */
            mediaType: "application/vnd.gazeway.review-receipt.v1+json";
            envelope: {
                /** @constant */
                payloadType: "application/vnd.in-toto+json";
                payload: string;
                signatures: {
                    keyid?: string;
                    sig: string;
                }[];
            };
            sshsig?: string;
            webauthn?: {
                credential_id: string;
                authenticator_data: string;
                client_data_json: string;
                signature: string;
            };
            observer?: {
                /** @constant */
                payloadType: "application/vnd.in-toto+json";
                payload: string;
                signatures: {
                    keyid?: string;
                    sig: string;
                }[];
            };
        };
        VerifyReviewReceiptBody: {
            receipts: components["schemas"]["ReviewReceiptInput"][];
            change: {
                digest: string;
                parts: ({
                    /** @constant */
                    kind: "hunk";
                    path: string;
                    digest: string;
                    lines: number;
                    rows: {
                        /** @enum {string} */
                        kind: " " | "-" | "+";
                        text: string;
                        old: number | null;
                        new: number | null;
                    }[];
                } | {
                    /** @enum {string} */
                    kind: "binary" | "deleted" | "empty" | "large" | "mode" | "moved" | "submodule";
                    path: string;
                    digest: string;
                    /** @constant */
                    lines: 1;
                    detail: string;
                    from?: string;
                })[];
            };
            authors?: string[];
            policy?: {
                $schema?: string;
                /** @constant */
                version: 1;
                allowed_signers: string;
                revoked_keys?: string;
                passkeys?: {
                    reviewer: string;
                    credential_id: string;
                    public_key: string;
                    rp_id: string;
                    origins: string[];
                }[];
                observers?: string[];
                repository?: string;
                max_age_days?: number;
                /** @enum {string} */
                level?: "seen" | "plausible" | "present";
                coverage?: number;
                reviewers?: number;
                not_author?: boolean;
                hold?: string[];
                rules?: {
                    paths: string[];
                    /** @enum {string} */
                    level?: "seen" | "plausible" | "present";
                    coverage?: number;
                    reviewers?: number;
                    not_author?: boolean;
                }[];
            };
            allowed_signers?: string;
            revoked_keys?: string;
        };
        Verdict: {
            passed: boolean;
            change: string;
            parts: number;
            items: number;
            unread: {
                place: string;
                reason: string;
            }[];
            reviewers: string[];
            refused: {
                reviewer: string;
                reason: string;
            }[];
        };
        SigningKey: {
            keyid: string;
            public_key: string;
            valid_from: string;
            valid_until: string | null;
        };
        ListSigningKeysReply: {
            keys: components["schemas"]["SigningKey"][];
        };
        Memory: {
            id: string;
            key: string;
            namespace: string;
            project: string | null;
            value: string | number | boolean | null | unknown[] | {
                [key: string]: unknown;
            };
            tags: string[];
            written_by: string | null;
            version: number;
            created_at: string;
            updated_at: string;
            expires_at: string | null;
        };
        ListMemoriesReply: {
            items: components["schemas"]["Memory"][];
            total: number;
            next_cursor: string | null;
        };
        StoreMemoryBody: {
            key: string;
            value?: string | number | boolean | null | unknown[] | {
                [key: string]: unknown;
            };
            namespace?: string;
            tags?: string[];
            also?: string[];
            supersedes?: string;
            project?: string | null;
            ttl_seconds?: number;
            if_version?: number;
            forget?: boolean;
        };
        StoreMemoryReply: {
            memory: components["schemas"]["Memory"];
            created: boolean;
            forgotten?: boolean;
            unindexed?: number;
            similar: {
                key: string;
                namespace: string;
                score: number;
            }[];
        };
        SearchMemoriesBody: {
            query: string;
            filters?: {
                namespace?: string;
                tags?: string[];
                project?: string | null;
                /** @constant */
                projects?: "all";
                from?: string;
                to?: string;
            };
            limit?: number;
            caller_id?: string;
            weak?: number;
            excerpt_length?: number;
            /** @constant */
            trusted?: true;
        };
        SearchMemoriesReply: {
            results: {
                memory: components["schemas"]["Memory"];
                score: number;
                /** @constant */
                weak?: true;
                excerpt: string;
            }[];
            total: number;
            /** @enum {string} */
            mode: "lexical" | "hybrid";
        };
        RecallMemoryReply: {
            /** @constant */
            found: true;
            memory: components["schemas"]["Memory"];
            score: number;
        };
        MemoryStats: {
            engine: string;
            count: number;
            bytes: number;
            namespaces: {
                [key: string]: number;
            };
            oldest_at: string | null;
            newest_at: string | null;
        };
        Session: {
            id: string;
            title: string | null;
            user_id: string;
            source: string;
            upstream_source?: string;
            model: string | null;
            started_at: number;
            last_active: number;
            ended_at: number | null;
            end_reason: string | null;
            parent_session_id: string | null;
            message_count: number;
            tool_call_count: number;
            input_tokens: number;
            output_tokens: number;
            estimated_cost_usd: number | null;
            preview: string;
        };
        ListSessionsReply: {
            /** @constant */
            object: "list";
            items: components["schemas"]["Session"][];
            data: components["schemas"]["Session"][];
            sessions: components["schemas"]["Session"][];
            total: number;
            limit: number;
            offset: number;
            has_more: boolean;
            next_cursor: string | null;
            warnings?: string[];
        };
        CreateSessionBody: {
            id?: string;
            session_id?: string;
            title?: string | null;
            model?: string | null;
            parent_session_id?: string | null;
        };
        CreateSessionReply: {
            id: string;
            title: string | null;
            user_id: string;
            source: string;
            upstream_source?: string;
            model: string | null;
            started_at: number;
            last_active: number;
            ended_at: number | null;
            end_reason: string | null;
            parent_session_id: string | null;
            message_count: number;
            tool_call_count: number;
            input_tokens: number;
            output_tokens: number;
            estimated_cost_usd: number | null;
            preview: string;
            /** @constant */
            object: "session";
            session: components["schemas"]["Session"];
        };
        SearchSessionsReply: {
            /** @constant */
            object: "list";
            results: {
                session_id: string;
                snippet: string;
                message_id: string | null;
                role: string | null;
                title: string | null;
                source: string;
                model: string | null;
                session_started: number;
            }[];
            items: components["schemas"]["Session"][];
            sessions: components["schemas"]["Session"][];
            total: number;
            warnings?: string[];
        };
        GetSessionReply: {
            id: string;
            title: string | null;
            user_id: string;
            source: string;
            upstream_source?: string;
            model: string | null;
            started_at: number;
            last_active: number;
            ended_at: number | null;
            end_reason: string | null;
            parent_session_id: string | null;
            message_count: number;
            tool_call_count: number;
            input_tokens: number;
            output_tokens: number;
            estimated_cost_usd: number | null;
            preview: string;
            /** @constant */
            object: "session";
            session: components["schemas"]["Session"];
        };
        UpdateSessionBody: {
            title?: string | null;
            end_reason?: string;
        };
        UpdateSessionReply: {
            id: string;
            title: string | null;
            user_id: string;
            source: string;
            upstream_source?: string;
            model: string | null;
            started_at: number;
            last_active: number;
            ended_at: number | null;
            end_reason: string | null;
            parent_session_id: string | null;
            message_count: number;
            tool_call_count: number;
            input_tokens: number;
            output_tokens: number;
            estimated_cost_usd: number | null;
            preview: string;
            /** @constant */
            object: "session";
            session: components["schemas"]["Session"];
        };
        DeleteSessionReply: {
            /** @constant */
            object: "session.deleted";
            id: string;
            /** @constant */
            deleted: true;
        };
        Message: {
            id: string;
            session_id: string;
            role: string;
            content: string | null;
            timestamp: number;
            name?: string;
            tensor?: string;
            poa_score?: number;
            token_count?: number;
            call_id?: string;
        };
        ListMessagesReply: {
            /** @constant */
            object: "list";
            session_id: string;
            items: components["schemas"]["Message"][];
            data: components["schemas"]["Message"][];
            messages: components["schemas"]["Message"][];
            total: number;
            has_more: boolean;
            next_cursor: string | null;
        };
        ChatBody: {
            message?: string;
            input?: string;
            user?: string;
        };
        ChatReply: {
            /** @constant */
            object: "session.chat.completion";
            session_id: string;
            message_id: string;
            message: {
                id: string;
                /** @constant */
                role: "assistant";
                content: string;
            };
            content: string;
            tensor: string;
            poa_score: number;
            usage: components["schemas"]["Usage"];
            cost_usd: number;
        };
        StreamChatBody: {
            message?: string;
            input?: string;
            user?: string;
        };
        StreamChatReply: string;
        Skill: {
            id: string;
            name: string;
            description: string;
            category: string | null;
            tags: string[];
            version: string | null;
            license: string | null;
            compatibility: string | null;
            path: string | null;
            /** @enum {string} */
            source: "project" | "user" | "bundled" | "upstream";
            installed: boolean;
            enabled: boolean;
            updated_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
            warnings: string[];
            error: string | null;
        };
        ListSkillsReply: {
            items: components["schemas"]["Skill"][];
            skills: components["schemas"]["Skill"][];
            total: number;
            warnings: string[];
            upstream_error: string | null;
        };
        ListSkillCategoriesReply: {
            items: {
                name: string;
                count: number;
            }[];
            categories: {
                name: string;
                count: number;
            }[];
            total: number;
            warnings: string[];
            upstream_error: string | null;
        };
        SkillWithContent: {
            id: string;
            name: string;
            description: string;
            category: string | null;
            tags: string[];
            version: string | null;
            license: string | null;
            compatibility: string | null;
            path: string | null;
            /** @enum {string} */
            source: "project" | "user" | "bundled" | "upstream";
            installed: boolean;
            enabled: boolean;
            updated_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
            warnings: string[];
            error: string | null;
            content: string | null;
        };
        ListJobsReply: {
            jobs: unknown[];
        };
        ListMcpServersReply: {
            servers: unknown[];
        };
        Status: {
            version: string;
            claude_home: string;
            gateway_running: boolean;
            /** @enum {string} */
            gateway_state: "running" | "degraded";
        };
        ModelInfo: {
            model: string;
            provider: string;
            auto_context_length: number;
            config_context_length: number;
            effective_context_length: number;
            capabilities: {
                context_window?: number;
            };
        };
        DetailedHealth: {
            /** @enum {string} */
            status: "ok" | "degraded";
            /** @constant */
            platform: "gazeway";
            version: string;
            /** @enum {string} */
            gateway_state: "running" | "degraded";
            platforms: Record<string, never>;
            updated_at: string;
        };
        ListProfilesReply: {
            profiles: {
                name: string;
                is_default: boolean;
                model: string;
                provider: string;
            }[];
        };
        Error: {
            error: {
                code: string;
                message: string;
                type: string;
                param: string | null;
                request_id: string | null;
                doc_url: string;
            };
        };
    };
    responses: {
        Refused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        Failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getGatewayStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewayStatus"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    runDoctor: {
        parameters: {
            query?: {
                max_age?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDoctorReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                group?: string;
                unused_since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKeysReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateKeyReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listBurn: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListBurnReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeKeyReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    updateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateKeyBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateKeyReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKeyBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateKeyReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    releaseKeySpending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseKeySpendingReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listGroups: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListGroupsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createGroup: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGroup"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateGroupReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    deleteGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    updateGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateGroupBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateGroupReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    releaseGroupSpending: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReleaseGroupSpendingReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    forgiveKeyDebt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgiveKeyDebtReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    forgiveGroupDebt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgiveGroupDebtReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    forgetCaller: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetCallerReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listConnections: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListConnectionsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createConnection: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateConnectionBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateConnectionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    closeConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CloseConnectionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    callMetered: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallMeteredBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listReceipts: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                caller_id?: string;
                group?: string;
                model?: string;
                from?: string;
                to?: string;
                group_by?: "day" | "model" | "caller" | "session" | "repository" | "branch" | "commit" | "client" | "tag";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListReceiptsReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getPricing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pricing"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    deposit: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DepositBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DepositReceipt"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getWallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Wallet"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listBalances: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListBalancesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listLedgerEntries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                caller_id?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListLedgerEntriesReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    withdraw: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WithdrawBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getWithdrawal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getStatement: {
        parameters: {
            query: {
                period: string;
                caller_id?: string;
                key?: string;
                group?: string;
                group_by?: "session" | "repository" | "branch" | "commit" | "client" | "tag";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                    "text/csv": string;
                    "text/html": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    closePeriod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                period: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosePeriodReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listDeposits: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                caller_id?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListDepositsReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listPayments: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                caller_id?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListPaymentsReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listWithdrawals: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                caller_id?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWithdrawalsReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getAgentRegistration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentRegistration"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listTasks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                status?: "blocked" | "open" | "claimed" | "completed" | "failed" | "cancelled";
                agent?: string;
                capability?: string;
                swarm_id?: string;
                include_done?: "0" | "1" | "true" | "false" | "";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListTasksReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTask"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listAssignees: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAssigneesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getTaskStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStats"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    claimTask: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimTaskBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimTaskReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    extendClaim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtendClaimBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    completeTask: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteTaskBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listSwarms: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSwarmsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createSwarm: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSwarmBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateSwarmReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listEscrows: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                status?: "locked" | "released" | "settled" | "expired" | "refunded" | "live" | "paid";
                task_id?: string;
                payer?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEscrowsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createEscrow: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEscrow"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Escrow"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getEscrow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Escrow"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    releaseEscrow: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseEscrowBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Escrow"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    refundEscrow: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RefundEscrowBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Escrow"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                status?: "ok" | "error" | "aborted" | "hedged" | "refused";
                path?: string;
                caller_id?: string;
                group?: string;
                session?: string;
                address?: string;
                upstream?: string;
                kind?: string;
                min_cost_usd?: number;
                model?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCallsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getCallStats: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                group_by?: "model" | "caller" | "day" | "path" | "status" | "session" | "repository" | "branch" | "commit" | "client" | "tag" | "hour" | "address";
                caller_id?: string;
                group?: string;
                model?: string;
                path?: string;
                session?: string;
                address?: string;
                upstream?: string;
                kind?: string;
                min_cost_usd?: number;
                and_by?: "model" | "caller" | "day" | "path" | "status" | "session" | "repository" | "branch" | "commit" | "client" | "tag" | "hour" | "address";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStats"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listCallCaches: {
        parameters: {
            query: {
                session: string;
                caller_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCallCachesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    streamCalls: {
        parameters: {
            query?: {
                status?: "ok" | "error" | "aborted" | "hedged" | "refused";
                path?: string;
                caller_id?: string;
                group?: string;
                session?: string;
                address?: string;
                upstream?: string;
                kind?: string;
                min_cost_usd?: number;
                model?: string;
                from?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamCallsReply"];
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Call"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    explainCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainCallReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listCodingSessionCosts: {
        parameters: {
            query?: {
                repository?: string;
                branch?: string;
                from?: string;
                to?: string;
                caller_id?: string;
                by?: "session" | "day" | "model" | "commit";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCodingSessionCostsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listCodingSessions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                client?: string;
                key?: string;
                group?: string;
                repository?: string;
                branch?: string;
                from?: string;
                to?: string;
                sort?: "last" | "cost";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCodingSessionsReply"];
                    "text/csv": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getCodingSession: {
        parameters: {
            query?: {
                key?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodingSessionDetails"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    stopCodingSession: {
        parameters: {
            query?: {
                key?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopCodingSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    resumeCodingSession: {
        parameters: {
            query?: {
                key?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResumeCodingSessionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResumeCodingSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    addCodingSessionFacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddCodingSessionFactsBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddCodingSessionFactsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Config"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    setConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetConfigBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetConfigReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    updateConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateConfigBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateConfigReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listConfigKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListConfigKeysReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getModelConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelConfig"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    setModelConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetModelConfigBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetModelConfigReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listAvailableModels: {
        parameters: {
            query?: {
                provider?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAvailableModelsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listUpstreams: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListUpstreamsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    testUpstream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestUpstreamBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestUpstreamReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listCandidates: {
        parameters: {
            query: {
                model: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCandidatesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    explainRoutes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRoutesBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainRoutesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    tryUpstream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TryUpstreamBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TryUpstreamReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    storeGaze: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StoreGazeBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreGazeReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listGazeRecords: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                session_id?: string;
                from?: string;
                to?: string;
                path?: string;
                source?: "eye_tracker" | "webcam" | "ide" | "pointer" | "manual";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListGazeRecordsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listGazeSessions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                task_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListGazeSessionsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    analyzeGaze: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnalyzeGazeBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyzeGazeReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getAttestation: {
        parameters: {
            query?: {
                session_id?: string;
                task_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Attestation"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    verifySession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifySessionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifySessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listReviews: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListReviewsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createReview: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReview"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Review"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getReview: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewWithParts"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    addReviewEvidence: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddReviewEvidenceBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddReviewEvidenceReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    decideReview: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecideReviewBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewReceipt"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    verifyReviewReceipt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyReviewReceiptBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verdict"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listSigningKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSigningKeysReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listMemories: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                namespace?: string;
                tag?: string;
                project?: string;
                caller_id?: string;
                trusted?: "true";
                projects?: "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListMemoriesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    storeMemory: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StoreMemoryBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreMemoryReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    searchMemories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchMemoriesBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchMemoriesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    recallMemory: {
        parameters: {
            query?: {
                key?: string;
                q?: string;
                version?: number;
                caller_id?: string;
                project?: string;
                projects?: "all";
                namespace?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallMemoryReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getMemoryStats: {
        parameters: {
            query?: {
                caller_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryStats"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    deleteMemory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSessionsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSessionBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    searchSessions: {
        parameters: {
            query: {
                q: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchSessionsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    updateSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSessionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSessionReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                offset?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListMessagesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    chat: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    streamChat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamChatBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamChatReply"];
                    "text/event-stream": string;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listSkills: {
        parameters: {
            query?: {
                category?: string;
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSkillsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listSkillCategories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSkillCategoriesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillWithContent"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listJobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListJobsReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listMcpServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListMcpServersReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getModelInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelInfo"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getDetailedHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetailedHealth"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    listProfiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListProfilesReply"];
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    getPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    putPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    postPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    deletePassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    optionsPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    headPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
    patchPassed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
                "*/*": unknown;
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "*/*": unknown;
                };
            };
            "4XX": components["responses"]["Refused"];
            "5XX": components["responses"]["Failed"];
        };
    };
}
