# Makes upstream.txt of upstream's api/openapi-spec/swagger.json: what an operation takes and gives, and below it the
# operations of which that is true. Left out are alpha versions and CBOR, which upstream serves when it is told to.
. as $document
| def resolved: if has("$ref") then $document.parameters[.["$ref"] | ltrimstr("#/parameters/")] else . end;
  def media: map(select(contains("cbor") | not)) | sort | if . == [] then "-" else join(",") end;
  def parameter: "\(.in).\(.name):\(.type // "object")\(if .required then "!" else "" end)";
  [
    .paths | to_entries[] | select(.key | test("/v[0-9]+alpha[0-9]+/") | not) | .key as $path | .value as $item
    | $item | to_entries[] | select(.key != "parameters") | .value as $operation
    | {
        line: "  \($operation.operationId) \(.key) \($path)",
        shape: (
          [
            $operation["x-kubernetes-action"] // "-",
            ($operation.responses | keys | join(",")),
            ($operation.consumes // [] | media),
            ($operation.produces // [] | media)
          ]
          + ([($item.parameters // [])[], ($operation.parameters // [])[]] | map(resolved | parameter) | sort)
          | join(" ")
        )
      }
  ]
| group_by(.shape)[] | .[0].shape, (map(.line) | sort[])
