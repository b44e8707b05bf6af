;;; emacs.el --- A source with one error in Emacs with the mode of docs/editors  -*- lexical-binding: t; -*-

;; Run by tests/headless.rs.

;;; Code:

(require 'eglot)
(require 'flymake)

(defun wait-for (what holds)
  "Wait until HOLDS returns true, or fail with WHAT."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall holds))
      (when (> (float-time) end)
        (error "Not in time: %s; %S" what (buffer-string)))
      (accept-process-output nil 0.05))))

(defun check (holds what)
  "Fail with WHAT unless HOLDS."
  (unless holds (error "Failed: %s; %S" what (buffer-string))))

(find-file (car command-line-args-left))
(setq command-line-args-left nil)
(check (eq major-mode 'tdl-mode) "the mode")
(apply #'eglot (eglot--guess-contact))
(check (eglot-managed-p) "the server is connected")
(wait-for "a message" (lambda () (flymake-start) (flymake-diagnostics)))
(let ((message (car (flymake-diagnostics))))
  (check (= (line-number-at-pos (flymake-diagnostic-beg message)) 2) "the line of the message")
  (check (string-match-p "FFH is not defined" (flymake-diagnostic-text message)) "its text"))
(goto-char (point-min))
(search-forward "JMP STA")
(call-interactively #'xref-find-definitions)
(check (= (line-number-at-pos) 1) "the definition")
(goto-char (point-min))
(search-forward "FFH")
(replace-match "0FFH")
(eglot-format-buffer)
(check (string-prefix-p "START:  NOP\n        MVI A,0FFH\n" (buffer-string)) "the layout")
(princ (format "passed in Emacs %s, eglot\n" emacs-version))
(kill-emacs 0)

;;; emacs.el ends here
