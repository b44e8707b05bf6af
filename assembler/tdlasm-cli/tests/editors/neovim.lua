-- A source with one error in Neovim with the configuration of docs/editors: run by tests/headless.rs.
-- An error in this script would leave the editor waiting.
vim.defer_fn(function()
  vim.cmd("cquit 2")
end, 120000)

local function check(holds, what)
  if not holds then
    io.stderr:write("FAILED: " .. what .. "\n" .. vim.inspect(vim.diagnostic.get(0)) .. "\n")
    vim.cmd("cquit 1")
  end
end

local function wait(what, holds)
  check(vim.wait(60000, holds, 20), what)
end

check(vim.bo.filetype == "tdl", "the file type is " .. vim.bo.filetype)
wait("the server is attached", function()
  return #vim.lsp.get_clients({ bufnr = 0, name = "tdlasm" }) == 1
end)
wait("a message is shown", function()
  return #vim.diagnostic.get(0) == 1
end)
local message = vim.diagnostic.get(0)[1]
check(message.lnum == 1 and message.code == "U01" and message.severity == vim.diagnostic.severity.ERROR, "the message")

vim.api.nvim_win_set_cursor(0, { 3, 8 })
local place = vim.lsp.util.make_position_params(0, "utf-16")
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  return vim.tbl_values(answers)[1].result
end
check(ask("textDocument/definition", place)[1].range.start.line == 0, "definition")

local range = vim.lsp.util.make_range_params(0, "utf-16")
range.range = { start = { line = 1, character = 0 }, ["end"] = { line = 1, character = 20 } }
range.context = { diagnostics = {} }
local action = ask("textDocument/codeAction", range)[1]
check(action.title == "Write 0FFH", "code action " .. vim.inspect(action))
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
wait("the message goes away", function()
  return #vim.diagnostic.get(0) == 0
end)

vim.cmd("silent write")
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
check(lines[1] == "START:  NOP" and lines[2] == "        MVI A,0FFH", "written in columns: " .. vim.inspect(lines))

vim.api.nvim_buf_set_lines(0, 1, 2, false, { "        MVI A,NONE" })
vim.cmd("noautocmd silent write")
vim.cmd("silent make")
local listed = vim.fn.getqflist()
check(#listed == 1 and listed[1].lnum == 2 and listed[1].type == "e", "make: " .. vim.inspect(listed))

-- nvim-dap is a stand-in here.
local dap = require("dap")
check(dap.adapters.tdl.command == "hw-inspect" and dap.configurations.tdl[1].program == "${file}", "dap")

io.stdout:write("passed in Neovim " .. tostring(vim.version()) .. "\n")
vim.cmd("qall!")
