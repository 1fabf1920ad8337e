"""/api/v1: what a desk sees and does (cep.web.desk), as JSON over HTTP.

operation     one operation: method and path, who may do it, what goes in and comes out, what it calls
asked         a request as operations see it: texts of path and query, a checked body
bodies        what requests may carry
reading, acting, known
              the operations, and the tuple of all
problems      errors as JSON objects (RFC 9457) with code, message and fix
openapi       the description of all operations, OpenAPI 3.1
routes        operations as routes of Starlette
answering     one operation answered: from a request, or in this process without one
"""
