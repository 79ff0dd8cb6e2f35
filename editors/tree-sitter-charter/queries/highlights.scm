(comment) @comment
(string) @string
(number) @number
["and" "else" "for" "forall" "if" "implies" "in" "is" "let" "match" "not" "or" "some" "subset" "sum" "the" "then" "took" "with" "in any order" "leads to" "exactly one"] @keyword.operator
["int" "map" "max" "option" "ranking" "seq" "set"] @type.builtin
["add" "after" "alias" "always" "assume" "at" "because" "before" "branch" "budget" "by" "by_design" "cached" "carries" "caught" "channel" "charter_gap" "cites" "clear" "component" "conjunct" "const" "counter" "crash" "disk" "do" "drop" "duplicating" "entry" "enum" "eventually" "expect" "fails" "fair" "fault" "fifo" "flush" "fragment" "from" "fun" "ghost" "harmless" "history" "image" "include" "instance" "keeping" "known_defect" "like" "lossy" "machine" "misses" "mutant" "never" "observe" "of" "offers" "on" "only" "opaque" "operation" "overlay" "pick" "prelude" "process" "property" "protocol" "receive" "record" "replace" "reply" "require" "saying" "scenario" "send" "setup" "slot" "sort" "source" "start" "state" "step" "stepwise" "suspected_defect" "system" "to" "type" "union" "update" "variant" "volatile" "when" "witness"] @keyword
["false" "none" "true"] @constant.builtin
["!=" "&" "*" "+" "-" "->" ".." "/" ":" "<" "<=" "=" "==" ">" ">=" "|"] @operator
(named_type (name) @type)
(apply . (name) @function.call)
(fun_decl . (name) @function)
(operation . (name) @function)
(branch . (name) @label)
(field_of (name) @variable.member)
