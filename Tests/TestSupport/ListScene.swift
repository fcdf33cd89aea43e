/// A list at `/app.items` of which each element has a node with a state of its own.
public let listScene = """
    nodes:
      - id: app
        state: { items: [] }
        children:
          - id: rows
            forEach:
              in: $items
              as: item
              node: { kind: view, state: { open: false }, binding: { n: $item.n }, computed: { text: 'string(n) + (open ? "!" : "")' } }
    """
