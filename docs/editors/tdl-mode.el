;;; tdl-mode.el --- TDL source for the Z80  -*- lexical-binding: t; -*-

;; Emacs 29 or later, which has Eglot: (load "/path/to/tdl-mode.el") in the init file, then M-x eglot in a source, M-x eglot-format to lay it
;; out, M-x compile to assemble it, and M-x dape, from GNU ELPA, to debug it.

;;; Code:

(defvar eglot-server-programs)
(defvar compilation-error-regexp-alist)
(defvar dape-configs)

(define-derived-mode tdl-mode prog-mode "TDL"
  "A mode for Z80 source in the dialect of Technical Design Labs."
  (dolist (letter '(?. ?$ ?%))
    (modify-syntax-entry letter "_"))
  (modify-syntax-entry ?\; "<")
  (modify-syntax-entry ?\n ">")
  (setq-local comment-start "; ")
  (setq-local comment-start-skip ";+\\s *")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width 8)
  (setq-local tab-stop-list '(8 16 24 32))
  (setq-local indent-line-function #'tab-to-tab-stop)
  (setq-local compile-command
              (format "tdlasm asm --message-format short %s"
                      (shell-quote-argument (or buffer-file-name "")))))

(add-to-list 'auto-mode-alist '("\\.\\(?:asm\\|z80\\)\\'" . tdl-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(tdl-mode . ("tdlasm" "lsp"))))

;; The debugger: M-x dape in a source, with the package dape.
(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               '(tdl
                 modes (tdl-mode)
                 command "hw-inspect"
                 command-args ("dap")
                 :type "tdl"
                 :request "launch"
                 :program dape-buffer-default)))

(with-eval-after-load 'compile
  (add-to-list 'compilation-error-regexp-alist
               '("^\\(.+?\\):\\([0-9]+\\):\\([0-9]+\\): \\(?:error\\|\\(warning\\)\\)\\[" 1 2 3 (4))))

(provide 'tdl-mode)
;;; tdl-mode.el ends here
