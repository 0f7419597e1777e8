"""The cheapest cut between two nodes of a directed graph: Dinic's algorithm (Dinic, Soviet Math. Doklady 11, 1970).

Takes a graph with capacities. Gives, for each node, the side of the cut on which it is.

>>> graph = Graph()
>>> source, a, b, sink = (graph.node() for _ in range(4))
>>> for tail, head, capacity in [(source, a, 5), (a, b, 2), (source, b, 1), (b, sink, 9)]:
...     graph.edge(tail, head, capacity)
>>> graph.cut(source, sink)
[False, False, True, True]
"""

from __future__ import annotations

from collections import deque

NEVER = 1 << 50  # the capacity of an edge that no cut may contain


class Graph:
    """Nodes are numbers. Each edge is followed by its reverse, so that edge ``e`` is undone by edge ``e ^ 1``."""

    def __init__(self) -> None:
        self.heads: list[int] = []
        self.left: list[int] = []  # of each edge: the capacity that no flow uses yet
        self.edges: list[list[int]] = []

    def node(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, tail: int, head: int, capacity: int) -> None:
        for node, other, room in ((tail, head, capacity), (head, tail, 0)):
            self.edges[node].append(len(self.heads))
            self.heads.append(other)
            self.left.append(room)

    def cut(self, source: int, sink: int) -> list[bool]:
        """Whether each node is on the sink's side of the cheapest cut; of equal cuts, the one nearest to the sink."""
        while True:
            level = self._levels(source)
            if level[sink] < 0:
                return self._reaching(sink)
            self._saturate(source, sink, level)

    def _levels(self, source: int) -> list[int]:
        """The distances from the source along edges with room; -1 for what cannot be reached."""
        level = [-1] * len(self.edges)
        level[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for e in self.edges[node]:
                if self.left[e] and level[self.heads[e]] < 0:
                    level[self.heads[e]] = level[node] + 1
                    queue.append(self.heads[e])
        return level

    def _saturate(self, source: int, sink: int, level: list[int]) -> None:
        """Send flow along shortest paths until none has room. Without recursion: a path may be long."""
        at = [0] * len(self.edges)  # of each node: the edges before it lead nowhere any more
        path: list[int] = []
        node = source
        while True:
            if node == sink:
                room = min(self.left[e] for e in path)
                for e in path:
                    self.left[e] -= room
                    self.left[e ^ 1] += room
                full = next(k for k, e in enumerate(path) if not self.left[e])
                node = self.heads[path[full] ^ 1]
                del path[full:]
                continue
            edges = self.edges[node]
            while at[node] < len(edges):
                e = edges[at[node]]
                if self.left[e] and level[self.heads[e]] == level[node] + 1:
                    path.append(e)
                    node = self.heads[e]
                    break
                at[node] += 1
            else:
                if not path:
                    return
                level[node] = -1
                node = self.heads[path.pop() ^ 1]

    def _reaching(self, sink: int) -> list[bool]:
        found = [False] * len(self.edges)
        found[sink] = True
        todo = [sink]
        while todo:
            node = todo.pop()
            for e in self.edges[node]:
                tail = self.heads[e]
                if self.left[e ^ 1] and not found[tail]:
                    found[tail] = True
                    todo.append(tail)
        return found


__all__ = ["NEVER", "Graph"]
